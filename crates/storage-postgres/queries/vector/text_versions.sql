select
    v.version_id, v.seq, v.digest,
    exists (
        select 1
        from vector as x
        where x.store_id = v.store_id and x.generation = $2 and x.seq = v.seq
    ),
    v.memory_id,
    v.path
from version as v
where
    v.store_id = $1
    and v.version_id = any($3)
    and v.digest is not null
    and not v.is_sealed
order by v.seq
for share of v
