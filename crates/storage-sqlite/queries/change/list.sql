select
    c.seq, c.op, k.memory_id, k.version_id, k.revision,
    iif(k.memory_visibility <= ?4, k.path, null), c.actor_kind, c.actor_id, c.at, c.reason
from change as c cross join known_version as k on k.version = c.version
where c.store = ?1 and c.seq > ?2
order by c.seq
limit ?3
