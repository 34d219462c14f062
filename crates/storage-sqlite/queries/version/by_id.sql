select * from known_version where version_id = ?1 and store = ?2
