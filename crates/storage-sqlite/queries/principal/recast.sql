update principal set kind = ?2, is_admin = ?3 where principal_id = ?1
