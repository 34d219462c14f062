select *
from live_memory
where
    store = ?1
    and path >= ?2
    and path < ?3
    and (?4 is null or path > ?4 or memory_id > ?5)
    and visibility <= ?6
    and (expires_at is null or expires_at > ?7)
    and (?8 is null or kind = ?8)
    and (?9 is null or source = ?9)
    and (?10 is null or scope = ?10)
    and (?11 is null or partition = ?11)
order by path, memory_id
