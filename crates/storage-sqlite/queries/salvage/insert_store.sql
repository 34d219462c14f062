insert into store (
    store, store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by,
    share_by, content_bytes_max, memories_max, created_at, updated_at
)
values (?1, ?2, ?3, ?4, ?5, '', '{}', ?6, 0, 0, ?7, ?8, ?9, ?9)
