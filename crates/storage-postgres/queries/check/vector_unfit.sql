select
    coalesce(v.version_id, '00000000-0000-0000-0000-000000000000'),
    octet_length(x.passages),
    coalesce(g.dims, 0)
from vector as x
left join version as v on v.store_id = x.store_id and v.seq = x.seq
left join generation as g on g.generation = x.generation
where x.store_id = any($1)
