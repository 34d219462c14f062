insert into version (
    version, version_id, memory, revision, seq, op, path, attributes, visibility, digest,
    size_bytes, is_sealed, actor_kind, actor_id, created_at, request, reason, derived_from,
    redacted_at, redacted_kind, redacted_id
)
values (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21
)
