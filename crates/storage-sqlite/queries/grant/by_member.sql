select distinct g.given_by, s.owner
from grant_ as g cross join store as s on s.store = g.store
where g.given_by = ?1 and s.removed_at is null
union
select g.given_by, s.owner
from store as s cross join grant_ as g on g.store = s.store
where s.owner = ?1 and s.removed_at is null
