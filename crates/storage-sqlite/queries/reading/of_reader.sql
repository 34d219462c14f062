select r.reading, r.store
from reading as r cross join store as s on s.store = r.store
where r.reader = ?1 and s.workspace_id = ?2
order by s.store_id
limit ?3
