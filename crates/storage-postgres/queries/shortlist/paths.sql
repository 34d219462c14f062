select w.n, m.path, m.partition
from unnest($2::uuid[]) with ordinality as w (memory_id, n)
inner join memory as m on m.store_id = $1 and m.memory_id = w.memory_id
where m.path is not null
order by w.n
