select workspace_id, seq, at, actor_kind, actor_id, principal, kind, store, subject, detail, hash
from event
where workspace_id = $1
order by seq
