insert or ignore into change (store, seq, op, version, actor_kind, actor_id, at, reason)
select m.store, v.seq, v.op, v.version, v.actor_kind, v.actor_id, v.created_at, v.reason
from version as v cross join memory as m on m.memory = v.memory
