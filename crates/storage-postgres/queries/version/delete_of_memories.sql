delete from version where store_id = $1 and memory_id = any($2) returning seq
