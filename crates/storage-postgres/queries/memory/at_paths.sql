select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, m.op, m.erase_at, m.visibility,
    m.depth, m.hash, m.store_id
from (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[]) as u (store_id, partition, path)
    limit cardinality($1::uuid[])
) as w
inner join memory as m
    on m.store_id = w.store_id and m.path = w.path and m.partition = w.partition
