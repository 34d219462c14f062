select memory_id from memory where store_id = $1 order by memory_id limit $2
