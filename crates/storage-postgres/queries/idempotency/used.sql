select i.scope, i.key
from unnest($1::uuid[], $2::uuid[], $3::text[]) as w (workspace_id, scope, key)
inner join idempotency as i
    on i.workspace_id = w.workspace_id and i.scope = w.scope and i.key = w.key
