select k.store_id
from reading_mark as k
inner join store as s on s.store_id = k.store_id
where k.store_id = any($1) and k.through > s.seq
limit $2
