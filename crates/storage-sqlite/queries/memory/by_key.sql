select * from live_memory where memory = ?1
