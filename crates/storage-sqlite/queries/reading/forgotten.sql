update reading_end set number = number + 1, forgotten = number + 1 where store = ?1
