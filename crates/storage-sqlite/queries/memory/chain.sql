select depth, hash from memory where memory = ?1
