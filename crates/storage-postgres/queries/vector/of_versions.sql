select seq, passages
from vector
where store_id = $1 and generation = $2 and seq = any($3)
