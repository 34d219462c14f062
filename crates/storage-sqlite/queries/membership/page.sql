select m.group_id, m.member_id, m.since
from membership as m cross join principal as p on p.principal_id = m.group_id
where (m.group_id, m.member_id) > (?1, ?2) and p.workspace_id = ?3
order by m.group_id, m.member_id
limit ?4
