select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content, p.base
from store as s
inner join live_memory as m on m.store_id = s.store_id
left join payload as p on $3::boolean and p.store_id = m.store_id and p.seq = m.head
where
    s.store_id = $1
    and s.removed_at is null
    and m.path = $2
    and m.partition = $4
