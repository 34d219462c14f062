select count(*)
from memory as m cross join store as s on s.store = m.store
where m.path is not null and s.removed_at is null
