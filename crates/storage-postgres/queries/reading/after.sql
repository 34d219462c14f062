select number, memory_id
from reading
where store_id = $1 and number > $2
order by number
limit $3
