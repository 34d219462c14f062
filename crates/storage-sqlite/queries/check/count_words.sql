select count(*) from memory_fts where memory_fts match ?1
