select coalesce(v.version_id, '00000000-0000-0000-0000-000000000000')
from vector as x
left join version as v on v.store_id = x.store_id and v.seq = x.seq
where x.store_id = any($1) and (v.seq is null or v.digest is null or v.is_sealed)
limit $2
