select coalesce(max(number), 0) from loci.migration
