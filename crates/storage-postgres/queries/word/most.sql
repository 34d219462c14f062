select memory_id from most_holding($1, $2, $3, $4, $5, $6, $7) order by weight desc, memory_id
