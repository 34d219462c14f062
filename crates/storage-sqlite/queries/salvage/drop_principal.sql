delete from principal where principal_id = ?1
