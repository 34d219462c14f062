select k.store_id
from vector_mark as k
inner join store as s on s.store_id = k.store_id
left join generation as g on g.generation = k.generation
where k.store_id = any($1) and (k.through > s.seq or k.through < 1 or g.generation is null)
limit $2
