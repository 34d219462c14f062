delete from attachment where session_id = ?1
