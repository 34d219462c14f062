select generation, model, dims, created_at from generation where generation = $1
