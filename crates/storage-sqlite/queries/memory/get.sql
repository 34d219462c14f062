select m.*, p.content, p.base
from live_memory as m left join payload as p on p.version = m.head
where
    m.store = (select s.store from store as s where s.store_id = ?1 and s.removed_at is null)
    and m.memory_id = ?2
