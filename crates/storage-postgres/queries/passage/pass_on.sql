select pass_on_passages($1, $2, $3, $4, $5)
