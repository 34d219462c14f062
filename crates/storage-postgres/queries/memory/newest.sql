select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content, p.base
from store as s
cross join lateral (
    select l.*
    from live_memory as l
    where
        l.store_id = s.store_id
        and l.path = $2
        and l.visibility <= $4
        and (l.expires_at is null or l.expires_at > $5)
    -- Not by the index of times: there are few at one path, and many in a store.
    order by l.updated_at + 0 desc
    limit 1
) as m
left join payload as p on $3::boolean and p.store_id = m.store_id and p.seq = m.head
where s.store_id = $1 and s.removed_at is null
