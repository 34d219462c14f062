select memory from memory where store = ?1 order by memory_id limit ?2
