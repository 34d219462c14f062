select below.memory_id
from memory as above
cross join memory as below
    on below.store = above.store
    and below.path > above.path || '/'
    and below.path < above.path || '0'
    and below.partition = above.partition
where above.path is not null
