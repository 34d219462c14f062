select m.memory, m.revision, v.op, m.partition, m.owner
from memory as m cross join version as v on v.version = m.head
where m.store = ?1 and m.memory_id = ?2
