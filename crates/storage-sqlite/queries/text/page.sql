select m.*, p.content, p.base
from live_memory as m cross join payload as p on p.version = m.head
where
    m.store = ?1
    and m.created_at > coalesce(
        (select last.created_at from memory as last where last.memory = ?2 and last.store = ?1),
        -9223372036854775808
    )
    and m.visibility <= ?3
    and (m.expires_at is null or m.expires_at > ?4)
    and not m.is_sealed
order by m.created_at
