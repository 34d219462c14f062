select
    k.version_id, k.memory_id, k.revision, k.seq, k.op, k.path, k.attributes, k.digest,
    k.size_bytes, k.actor_kind, k.actor_id, k.created_at, k.request, k.reason, k.derived_from,
    k.redacted_at, k.redacted_kind, k.redacted_id, k.is_sealed, k.owner, k.partition,
    k.memory_created_at, p.content, p.base
from known_version as k
left join payload as p on $8::boolean and p.store_id = k.store_id and p.seq = k.seq
where
    k.store_id = $1
    and (select s.removed_at is null from store as s where s.store_id = $1)
    and k.seq >= $2
    and k.seq < $3
    and k.memory_visibility <= $4
    and ($5::smallint is null or k.op = $5)
    and ($6::smallint is null or (k.actor_kind = $6 and k.actor_id is not distinct from $7))
order by k.seq desc
limit $9
