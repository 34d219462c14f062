select m.memory_id
from memory as m left join memory_fts_docsize as d on d.id = m.memory
where m.path is not null and not m.is_sealed and d.id is null
