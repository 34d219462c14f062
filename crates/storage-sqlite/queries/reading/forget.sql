delete from reading where reading = ?1
