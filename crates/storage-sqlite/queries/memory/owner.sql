select partition, owner from memory where store = ?1 and memory_id = ?2
