select count(*)
from vector as x
cross join version as v on v.version = x.vector % 1099511627776
cross join memory as m on m.memory = v.memory
cross join store as s on s.store = m.store
where s.removed_at is null
