insert into memory (
    memory, store, memory_id, partition, owner, pinned, visibility, head, revision, is_sealed,
    created_at, updated_at
)
values (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, 0, 0, ?7, ?7)
