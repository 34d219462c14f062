insert into memory (
    memory, store, memory_id, partition, owner, path, kind, tags, importance, pinned, visibility,
    expires_at, source, scope, summary, media_type, metadata, head, revision, digest, size_bytes,
    is_sealed, created_at, updated_at, repeat_digest
)
values (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23, ?24, ?25
)
