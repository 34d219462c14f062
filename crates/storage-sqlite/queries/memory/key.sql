select memory, path is not null from memory where store = ?1 and memory_id = ?2
