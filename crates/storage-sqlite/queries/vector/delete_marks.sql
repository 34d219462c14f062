delete from vector_mark where generation = ?1
