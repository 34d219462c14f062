select 1 from vector where vector = ?1
