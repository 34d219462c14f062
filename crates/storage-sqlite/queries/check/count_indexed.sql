select count(*)
from memory_fts_docsize as d
cross join memory as m on m.memory = d.id
cross join store as s on s.store = m.store
where s.removed_at is null
