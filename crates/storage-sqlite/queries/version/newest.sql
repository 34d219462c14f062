select k.*
from change as c cross join known_version as k on k.version = c.version
where c.store = ?1 and c.seq < ?2 and c.op < 3 and k.memory_visibility <= ?3
order by c.seq desc
