select m.group_id, m.member_id, m.since
from membership as m cross join principal as p on p.principal_id = m.group_id
where m.group_id = ?1 and p.workspace_id = ?2
order by m.since, m.member_id
