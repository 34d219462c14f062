select group_id, member_id, since
from membership
where workspace_id = $1 and (group_id, member_id) > ($2, $3)
order by group_id, member_id
limit $4
