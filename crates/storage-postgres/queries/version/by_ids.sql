select
    v.version_id, v.memory_id, v.revision, v.seq, v.op, v.path, v.attributes, v.digest,
    v.size_bytes, v.actor_kind, v.actor_id, v.created_at, v.request, v.reason, v.derived_from,
    v.redacted_at, v.redacted_kind, v.redacted_id, v.is_sealed, v.owner, v.partition,
    v.memory_created_at, v.store_id
from (
    select * from unnest($1::uuid[], $2::uuid[]) as u (store_id, version_id)
    limit cardinality($1::uuid[])
) as w
inner join known_version as v on v.store_id = w.store_id and v.version_id = w.version_id
