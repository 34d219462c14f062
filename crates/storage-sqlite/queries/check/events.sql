select
    workspace_id, seq, at, actor_kind, actor_id, principal_id, kind, store_id, subject, detail, hash
from event
order by workspace_id, seq
