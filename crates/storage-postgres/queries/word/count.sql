select place, held from count_holding($1, $2, $3, $4, $5)
