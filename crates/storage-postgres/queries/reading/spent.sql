select c.requests, c.tokens from reading_cost($1, $2) as c
