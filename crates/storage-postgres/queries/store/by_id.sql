select
    store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by, share_by,
    erase_after_secs, content_bytes_max, memories_max, repeats, created_at, updated_at,
    archived_at, removed_at, seq, last_at, memory_count, content_bytes, version_count,
    address, soft_cap
from store
where store_id = $1
