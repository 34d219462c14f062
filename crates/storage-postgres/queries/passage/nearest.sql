select memory_id from nearest_passages($1, $2, $3, $4, $5, $6, $7)
