select
    k.version_id, k.memory_id, k.revision, k.seq, k.op, k.path, k.attributes, k.digest,
    k.size_bytes, k.actor_kind, k.actor_id, k.created_at, k.request, k.reason, k.derived_from,
    k.redacted_at, k.redacted_kind, k.redacted_id, k.is_sealed, k.owner, k.partition,
    k.memory_created_at, p.content, p.base
from store as s
inner join known_version as k on k.store_id = s.store_id
left join payload as p on $4::boolean and p.store_id = k.store_id and p.seq = k.seq
where
    s.store_id = $1
    and s.removed_at is null
    and k.version_id = $2
    and k.memory_visibility <= $3
