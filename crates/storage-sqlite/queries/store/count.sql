update store
set seq = ?2, last_at = ?3, memory_count = ?4, content_bytes = ?5, version_count = ?6
where store = ?1
