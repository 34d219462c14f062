delete from reading where version = ?1
