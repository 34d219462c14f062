select *
from live_memory
where
    store = ?1
    and +path >= ?2
    and +path < ?3
    and (updated_at, memory_id) < (?4, ?5)
    and visibility <= ?6
    and (expires_at is null or expires_at > ?7)
    and (?8 is null or kind = ?8)
    and (?9 is null or source = ?9)
    and (?10 is null or scope = ?10)
    and (?11 is null or partition = ?11)
order by updated_at desc, memory_id desc
