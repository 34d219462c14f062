select key_id from api_key
