select coalesce(v.version_id, '00000000-0000-0000-0000-000000000000')
from reading as r
left join version as v on v.store_id = r.store_id and v.seq = r.seq
where
    r.store_id = any($1)
    and (v.seq is null or v.digest is null or v.is_sealed or v.memory_id <> r.memory_id)
limit $2
