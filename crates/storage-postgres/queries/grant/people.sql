select
    p.principal_id,
    w.owner,
    p.kind,
    p.is_admin,
    case
        -- Of those who are in a group with a user, agents are near to it.
        when r.relation = 0 or p.kind = 1 then r.relation
    end
from (
    select * from unnest($2::uuid[], $3::uuid[]) as u (who, owner)
    limit cardinality($2::uuid[])
) as w
inner join principal as p on p.principal_id = w.who
cross join lateral (select relation_to($1, w.who, w.owner) as relation) as r
