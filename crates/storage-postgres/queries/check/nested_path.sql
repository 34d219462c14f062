select below.memory_id
from (
    -- `offset 0` keeps the concatenation out of the conditions below: row security lets no
    -- condition that calls a function which is not leakproof use an index.
    select store_id, partition, path || '/' as low, path || '0' as high
    from memory
    where store_id = any($1) and path is not null
    offset 0
) as above
cross join lateral (
    select b.memory_id
    from memory as b
    where
        b.store_id = above.store_id
        and b.path > above.low
        and b.path < above.high
        and b.partition = above.partition
    order by b.path
    limit 1
) as below
limit $2
