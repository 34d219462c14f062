select coalesce(v.version_id, zeroblob(16)), length(x.passages), coalesce(g.dims, 0)
from vector as x
left join version as v on v.version = x.vector % 1099511627776
left join generation as g on g.generation = x.vector / 1099511627776
