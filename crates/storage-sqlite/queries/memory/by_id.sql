select * from live_memory where store = ?1 and memory_id = ?2
