select v.version_id
from payload as p
inner join version as v on v.store_id = p.store_id and v.seq = p.seq
left join payload as b on b.store_id = p.store_id and b.seq = p.base
left join version as o on o.store_id = b.store_id and o.seq = b.seq
where
    p.store_id = any($1)
    and p.base is not null
    and (
        o.seq is null
        or o.memory_id <> v.memory_id
        or p.base >= p.seq
        or o.is_sealed
        or v.is_sealed
    )
limit $2
