select coalesce(sum(memory_count), 0), coalesce(sum(content_bytes), 0)
from store
where workspace_id = ?1 and removed_at is null and substr(address, 1, length(?2)) = ?2
