select below.memory_id
from memory as above
cross join lateral (
    select b.memory_id
    from memory as b
    where
        b.store_id = above.store_id
        and b.path > above.path || '/'
        and b.path < above.path || '0'
        and b.partition = above.partition
    order by b.path
    limit 1
) as below
where above.store_id = any($1) and above.path is not null
limit $2
