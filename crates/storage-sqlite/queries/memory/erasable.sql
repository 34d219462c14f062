select s.workspace_id, s.store_id, m.memory_id
from memory as m cross join store as s on s.store = m.store
where m.erase_at <= ?1 and s.removed_at is null
order by m.erase_at, m.memory
limit ?2
