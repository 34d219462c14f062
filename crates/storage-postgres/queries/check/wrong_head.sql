select m.memory_id
from memory as m
left join version as v on v.store_id = m.store_id and v.seq = m.head
left join lateral (
    select newest.seq
    from version as newest
    where newest.store_id = m.store_id and newest.memory_id = m.memory_id
    order by newest.revision desc
    limit 1
) as last on true
where
    m.store_id = any($1)
    and (
        v.seq is null
        or v.seq is distinct from last.seq
        or v.memory_id <> m.memory_id
        or v.version_id <> m.head_id
        or v.revision <> m.revision
        or v.op <> m.op
        or (
            m.path is not null
            and (m.path is distinct from v.path or m.digest is distinct from v.digest)
        )
        or (m.path is null and v.op <> 2 and v.redacted_at is null)
        or (m.path is not null and v.op = 2)
    )
limit $2
