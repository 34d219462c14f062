update memory
set
    path = ?2, kind = ?3, tags = ?4, importance = ?5, pinned = ?6, visibility = ?7,
    expires_at = ?8, source = ?9, scope = ?10, summary = ?11, media_type = ?12, metadata = ?13,
    head = ?14, revision = ?15, digest = ?16, size_bytes = ?17, is_sealed = ?18, updated_at = ?19,
    repeat_digest = ?20, depth = ?21, hash = ?22
where memory = ?1
