select coalesce(m.memory_id, zeroblob(16))
from memory_fts_docsize as d left join memory as m on m.memory = d.id
where m.memory is null or m.path is null or m.is_sealed
