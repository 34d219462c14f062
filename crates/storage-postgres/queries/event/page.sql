select workspace_id, seq, at, actor_kind, actor_id, principal, kind, store, subject, detail, hash
from event
where workspace_id = $1 and seq > $2
order by seq
limit $3
