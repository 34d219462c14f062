select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head
from live_memory as m
where
    m.store_id = $1
    and (select s.removed_at is null from store as s where s.store_id = $1)
    and m.path >= $2
    and m.path < $3
    and (m.created_at, m.memory_id) < ($4, $5)
    and m.visibility <= $6
    and (m.expires_at is null or m.expires_at > $7)
    and ($8::text is null or m.kind = $8)
    and ($9::text is null or m.source = $9)
    and ($10::text is null or m.scope = $10)
    and ($11::uuid is null or m.partition = $11)
order by m.created_at desc, m.memory_id desc
limit $12
