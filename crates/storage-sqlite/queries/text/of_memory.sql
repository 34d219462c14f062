select m.*, p.content, p.base
from live_memory as m cross join payload as p on p.version = m.head
where
    m.memory = ?1
    and m.visibility <= ?2
    and (m.expires_at is null or m.expires_at > ?3)
    and not m.is_sealed
