select i.scope, i.key
from (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[]) as u (workspace_id, scope, key)
    limit cardinality($1::uuid[])
) as w
inner join idempotency as i
    on i.workspace_id = w.workspace_id and i.scope = w.scope and i.key = w.key
