update memory as m
set path = null
from unnest($1::uuid[], $2::uuid[]) as w (store_id, memory_id)
where m.store_id = w.store_id and m.memory_id = w.memory_id
