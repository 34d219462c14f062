update session
set title = $2, metadata = $3, updated_at = $4, archived_at = $5, details = $6
where session_id = $1
