select group_id, member_id, since
from membership
where workspace_id = $1 and group_id = $2
order by since, member_id
