select v.version, v.memory
from version as v cross join memory as m on m.memory = v.memory
where v.version_id = ?1 and m.store = ?2 and v.digest is not null and not v.is_sealed
