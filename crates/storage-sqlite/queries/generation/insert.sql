insert into generation (model, dims, created_at) values (?1, ?2, ?3)
