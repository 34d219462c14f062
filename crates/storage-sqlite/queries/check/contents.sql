select v.version_id, v.digest, v.size_bytes, v.is_sealed, p.content
from payload as p cross join version as v on v.version = p.version
where v.digest is not null
