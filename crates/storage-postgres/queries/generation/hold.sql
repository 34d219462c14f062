select generation, model, dims, created_at, has_passages(generation)
from generation
where generation = $1
for key share
