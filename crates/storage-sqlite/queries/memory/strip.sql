update memory
set
    path = null, kind = null, tags = null, importance = null, pinned = 0, expires_at = null,
    source = null, scope = null, summary = null, media_type = null, metadata = null, head = ?2,
    revision = ?3, digest = null, size_bytes = null, is_sealed = 0, updated_at = ?4, erase_at = ?5,
    repeat_digest = null, depth = 0, hash = null
where memory = ?1
