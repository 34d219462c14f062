-- One owner has fewer stores than begin so.
select coalesce(sum(memory_count), 0), coalesce(sum(content_bytes), 0)
from store indexed by store_by_owner
where workspace_id = ?1 and removed_at is null and address >= ?2 and address < ?3 and owner = ?4
