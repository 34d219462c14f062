select s.workspace_id, s.store_id, coalesce(m.through, 0), s.seq
from store as s left join vector_mark as m on m.store = s.store and m.generation = ?1
where s.removed_at is null and s.seq > coalesce(m.through, 0)
order by s.seq - coalesce(m.through, 0), s.store_id
limit ?2
