delete from memory where memory = ?1
