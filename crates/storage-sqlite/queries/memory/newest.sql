select *
from live_memory
where
    store = ?1
    and path = ?2
    and visibility <= ?3
    and (expires_at is null or expires_at > ?4)
order by updated_at desc, memory_id desc
limit 1
