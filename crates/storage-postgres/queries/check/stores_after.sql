select store_id
from store
where removed_at is null and store_id > $1
order by store_id
limit $2
