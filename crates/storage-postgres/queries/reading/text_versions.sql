select v.version_id, v.memory_id, v.seq
from version as v
where
    v.store_id = $1
    and v.version_id = any($2)
    and v.digest is not null
    and not v.is_sealed
order by v.seq
for share of v
