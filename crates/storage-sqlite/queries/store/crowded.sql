select workspace_id, store_id
from store
where
    soft_cap is not null
    and removed_at is null
    and archived_at is null
    and memory_count > soft_cap
order by memory_count - soft_cap desc, store_id
limit ?1
