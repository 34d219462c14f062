select store_id, memory_id
from reading
where workspace_id = $1 and reader = $2
order by store_id, memory_id
limit $3
