select drop_vectors($1, $2)
