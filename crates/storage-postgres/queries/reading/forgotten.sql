update reading_end set number = number + 1, forgotten = number + 1 where store_id = any($1)
