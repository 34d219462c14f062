delete from session where session_id = ?1
