select v.memory_id
from version as v
where v.store_id = any($1)
group by v.store_id, v.memory_id
having count(*) <> max(v.revision) or min(v.revision) <> 1
limit $2
