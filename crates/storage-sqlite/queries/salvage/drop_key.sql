delete from api_key where key_id = ?1
