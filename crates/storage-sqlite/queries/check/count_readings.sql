select count(*)
from reading as r cross join store as s on s.store = r.store
where s.removed_at is null
