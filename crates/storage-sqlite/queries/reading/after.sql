select r.number, m.memory_id
from reading as r cross join memory as m on m.memory = r.memory
where r.store = ?1 and r.number > ?2
order by r.number
limit ?3
