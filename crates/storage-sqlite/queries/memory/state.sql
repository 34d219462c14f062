select memory, revision from memory where store = ?1 and memory_id = ?2
