update api_key set revoked_at = ?2 where key_id = ?1
