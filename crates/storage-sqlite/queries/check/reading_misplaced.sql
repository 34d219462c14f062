select coalesce(v.version_id, zeroblob(16))
from reading as r left join version as v on v.version = r.version
where v.version is null or v.digest is null or v.is_sealed or v.memory <> r.memory
