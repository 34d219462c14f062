insert into generation (generation, model, dims, created_at) values ($1, $2, $3, $4)
