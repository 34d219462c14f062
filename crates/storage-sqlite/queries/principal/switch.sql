update principal set memory = ?2 where principal_id = ?1
