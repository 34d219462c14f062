select 1
from reading as r cross join version as v on v.version = r.version
where r.memory = ?1 and r.reader = ?2 and v.digest = ?3
