select open_passages($1, $2)
