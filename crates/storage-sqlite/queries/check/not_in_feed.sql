select v.version_id
from version as v
cross join memory as m on m.memory = v.memory
cross join store as s on s.store = m.store
left join change as c on c.store = m.store and c.seq = v.seq
where
    s.removed_at is null
    and (c.seq is null or c.version <> v.version or c.op <> v.op or c.at <> v.created_at)
