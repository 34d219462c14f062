select v.version_id, r.reader, r.claims, r.read_at
from memory as m
cross join reading as r on r.memory = m.memory
cross join version as v on v.version = r.version
where
    m.store = ?1
    and m.memory_id = ?2
    and m.path is not null
    and m.visibility <= ?3
    and (m.expires_at is null or m.expires_at > ?4)
    and not m.is_sealed
    and v.digest = m.digest
order by r.reader
