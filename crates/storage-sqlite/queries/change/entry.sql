select c.op, v.version_id, c.at
from change as c cross join version as v on v.version = c.version
where c.store = ?1 and c.seq = ?2
