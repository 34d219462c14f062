select generation, model, dims, created_at from generation order by generation desc limit 1
