delete from vector as x
using generation as g
where x.store_id = $1 and x.generation = g.generation and x.seq = any($2)
