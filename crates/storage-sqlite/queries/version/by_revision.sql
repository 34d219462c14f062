select * from known_version where memory = ?1 and revision = ?2
