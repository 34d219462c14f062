select c.seq, m.memory, m.memory_id
from change as c
cross join version as v on v.version = c.version
cross join memory as m on m.memory = v.memory
where c.store = ?1 and c.seq > ?2
order by c.seq
limit ?3
