select v.version_id, v.digest, v.size_bytes, v.is_sealed, p.content
from payload as p
inner join version as v on v.store_id = p.store_id and v.seq = p.seq
where p.store_id = any($1) and v.digest is not null
