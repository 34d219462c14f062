select w.giver, w.owner
from (
    select * from unnest($2::uuid[], $3::uuid[]) as u (giver, owner)
    limit cardinality($2::uuid[])
) as w
left join principal as p on p.principal_id = w.giver
where
    w.giver <> w.owner
    and not coalesce(p.is_admin, false)
    and relation_to($1, w.giver, w.owner) is null
