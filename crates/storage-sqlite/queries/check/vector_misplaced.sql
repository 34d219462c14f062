select coalesce(v.version_id, zeroblob(16))
from vector as x left join version as v on v.version = x.vector % 1099511627776
where v.version is null or v.digest is null or v.is_sealed
