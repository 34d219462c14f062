select v.version_id
from payload as p
cross join version as v on v.version = p.version
left join payload as b on b.version = p.base
left join version as o on o.version = b.version
where
    p.base is not null
    and (
        o.version is null
        or o.memory <> v.memory
        or o.revision >= v.revision
        or p.base >= p.version
        or o.is_sealed
        or v.is_sealed
    )
