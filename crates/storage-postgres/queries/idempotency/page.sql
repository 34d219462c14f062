select i.scope, i.key, i.fingerprint, i.kind, i.refs, i.at
from idempotency as i
where
    i.workspace_id = $1
    and (i.scope, i.key) > ($2, $3)
    and (
        exists (select 1 from principal as p where p.principal_id = i.scope)
        or exists (select 1 from api_key as k where k.key_id = i.scope)
        or exists (select 1 from session as s where s.session_id = i.scope)
    )
order by i.scope, i.key
limit $4
