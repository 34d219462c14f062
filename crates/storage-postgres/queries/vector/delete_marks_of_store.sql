delete from vector_mark where store_id = $1
