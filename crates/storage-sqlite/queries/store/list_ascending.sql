select
    store, store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by,
    share_by, erase_after_secs, content_bytes_max, memories_max, created_at, updated_at,
    archived_at, removed_at, seq, last_at, memory_count, content_bytes, version_count,
    repeats, address, soft_cap
from store
where
    workspace_id = ?1
    and removed_at is null
    and (created_at, store_id) > (?2, ?3)
    and (?4 or archived_at is null)
order by created_at, store_id
