select a.access
from attachment as a cross join session as s on s.session_id = a.session_id
where
    a.session_id = ?1 and a.store_id = ?2 and s.workspace_id = ?3 and s.archived_at is null
order by a.position
limit 1
