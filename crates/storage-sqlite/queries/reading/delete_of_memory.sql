delete from reading where memory = ?1
