select 1 from session where session_id = ?1
