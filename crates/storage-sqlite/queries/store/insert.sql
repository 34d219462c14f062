insert into store (
    store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by, share_by,
    erase_after_secs, content_bytes_max, memories_max, created_at, updated_at, archived_at, repeats,
    address, soft_cap
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
