delete from reading as r
using unnest($2::uuid[], $3::uuid[]) as w (store_id, memory_id)
where r.store_id = w.store_id and r.memory_id = w.memory_id and r.reader = $1
