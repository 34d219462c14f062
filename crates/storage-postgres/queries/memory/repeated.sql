select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head
from memory as m
where
    m.store_id = $1
    and m.repeat_digest = $2
    and m.partition = $3
    and m.visibility <= $4
    and (m.expires_at is null or m.expires_at > $5)
order by m.created_at, m.memory_id
limit 1
