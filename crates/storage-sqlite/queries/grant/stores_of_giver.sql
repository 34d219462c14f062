select distinct s.store_id
from grant_ as g cross join store as s on s.store = g.store
where g.given_by = ?1 and s.owner = ?2 and s.removed_at is null
