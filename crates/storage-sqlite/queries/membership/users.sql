select near.member_id
from (
    select distinct n.member_id
    from membership as m cross join membership as n on n.group_id = m.group_id
    where m.member_id = ?1 and n.member_id <> ?1
) as near
cross join principal as p on p.principal_id = near.member_id
where
    p.kind = 0
    and exists (select 1 from principal as a where a.principal_id = ?1 and a.kind = 1)
