update memory as m
set path = null
from (
    select * from unnest($1::uuid[], $2::uuid[]) as u (store_id, memory_id)
    limit cardinality($1::uuid[])
) as w
where m.store_id = w.store_id and m.memory_id = w.memory_id
