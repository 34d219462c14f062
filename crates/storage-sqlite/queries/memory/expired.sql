select s.workspace_id, s.store_id, m.memory_id
from memory as m cross join store as s on s.store = m.store
where
    m.expires_at is not null
    and m.path is not null
    and m.expires_at <= ?1
    and s.removed_at is null
order by m.expires_at, m.memory
limit ?2
