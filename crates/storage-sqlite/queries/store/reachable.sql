select
    store, store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by,
    share_by, erase_after_secs, content_bytes_max, memories_max, created_at, updated_at,
    archived_at, removed_at, seq, last_at, memory_count, content_bytes, version_count,
    repeats
from store
where
    store in (
        select o.store from store as o where o.owner = ?2 and o.removed_at is null
        union
        select g.store from grant_ as g where g.grantee = ?2
        union
        select g.store from grant_ as g where g.grantee = x''
    )
    and workspace_id = ?1
    and removed_at is null
order by created_at, store_id
