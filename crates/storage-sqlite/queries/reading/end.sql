select e.number, e.forgotten
from store as s cross join reading_end as e on e.store = s.store
where s.store_id = ?1 and s.removed_at is null
