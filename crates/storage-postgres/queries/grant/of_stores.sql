select g.grant_id, g.grantee, g.level, g.given_by, g.expires_at, g.created_at, g.store_id
from (
    select * from unnest($1::uuid[]) as u (store_id)
    limit cardinality($1::uuid[])
) as w
inner join grant_ as g on g.store_id = w.store_id
order by g.store_id, g.created_at, g.grant_id
