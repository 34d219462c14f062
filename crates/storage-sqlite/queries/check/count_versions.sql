select count(*)
from version as v
cross join memory as m on m.memory = v.memory
cross join store as s on s.store = m.store
where s.removed_at is null
