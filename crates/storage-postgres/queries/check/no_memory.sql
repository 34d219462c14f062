select v.version_id
from version as v
left join memory as m on m.store_id = v.store_id and m.memory_id = v.memory_id
where v.store_id = any($1) and m.memory_id is null
limit $2
