select i.scope, i.key, i.fingerprint, i.kind, i.refs, i.at
from idempotency as i
where
    (i.scope, i.key) > (?1, ?2)
    and (
        exists (
            select 1 from principal as p where p.principal_id = i.scope and p.workspace_id = ?3
        )
        or exists (select 1 from api_key as k where k.key_id = i.scope and k.workspace_id = ?3)
        or exists (select 1 from session as s where s.session_id = i.scope and s.workspace_id = ?3)
    )
order by i.scope, i.key
limit ?4
