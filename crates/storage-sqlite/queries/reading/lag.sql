select s.workspace_id, s.store_id, coalesce(m.through, 0), s.seq
from store as s left join reading_mark as m on m.store = s.store and m.reader = ?1
where s.store_id = ?2 and s.removed_at is null and s.seq > coalesce(m.through, 0)
