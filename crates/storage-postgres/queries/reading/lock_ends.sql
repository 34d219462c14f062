select store_id from reading_end where store_id = any($1) order by store_id for update
