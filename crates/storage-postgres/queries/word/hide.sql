delete from word as w
using (
    select * from unnest($1::uuid[], $2::uuid[], $3::smallint[]) as u (store_id, memory_id, visibility)
    limit cardinality($1::uuid[])
) as h
where w.store_id = h.store_id and w.memory_id = h.memory_id and w.visibility < h.visibility
