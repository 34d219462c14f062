select
    k.version_id, k.memory_id, k.revision, k.seq, k.op, k.path, k.attributes, k.digest,
    k.size_bytes, k.actor_kind, k.actor_id, k.created_at, k.request, k.reason, k.derived_from,
    k.redacted_at, k.redacted_kind, k.redacted_id, k.is_sealed, k.owner, k.partition,
    k.memory_created_at, c.seq, c.op, c.actor_kind, c.actor_id, c.at, c.reason, p.content, p.base
from change as c
inner join known_version as k on k.store_id = c.store_id and k.seq = c.version_seq
left join payload as p on p.store_id = c.store_id and p.seq = c.seq
where
    c.store_id = $1
    and (
        select s.removed_at is null and s.workspace_id = $4 from store as s where s.store_id = $1
    )
    and c.seq > $2
    and c.seq <= $3
order by c.seq
