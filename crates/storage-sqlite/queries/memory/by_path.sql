select * from live_memory where store = ?1 and path = ?2 and partition = ?3
