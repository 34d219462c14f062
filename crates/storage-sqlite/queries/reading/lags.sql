select s.workspace_id, s.store_id, coalesce(m.through, 0)
from store as s left join reading_mark as m on m.store = s.store and m.reader = ?1
where s.removed_at is null and s.seq > coalesce(m.through, 0)
order by s.seq - coalesce(m.through, 0), s.store_id
limit ?2
