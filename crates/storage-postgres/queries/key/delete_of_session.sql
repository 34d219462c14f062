delete from api_key where session_id = $1
