-- The caller computes the bounds, so that the index of addresses serves.
select coalesce(sum(memory_count), 0), coalesce(sum(content_bytes), 0)
from store
where workspace_id = ?1 and removed_at is null and address >= ?2 and address < ?3
