delete from vector_mark where store = ?1
