select s.store_id
from vector_mark as m
left join store as s on s.store = m.store
left join generation as g on g.generation = m.generation
where m.through > s.seq or m.through < 1 or g.generation is null
