select
    version_id, memory_id, revision, seq, op, path, attributes, digest, size_bytes, actor_kind,
    actor_id, created_at, request, reason, derived_from, redacted_at, redacted_kind, redacted_id,
    is_sealed, owner, partition, memory_created_at
from known_version
where store_id = $1 and version_id = $2
