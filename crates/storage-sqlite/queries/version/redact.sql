update version
set
    path = null, attributes = null, digest = null, size_bytes = null, redacted_at = ?2,
    redacted_kind = ?3, redacted_id = ?4
where version = ?1
