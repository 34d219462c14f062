select x.passages
from version as v
cross join memory as m on m.memory = v.memory
cross join vector as x on x.vector = ?1 * 1099511627776 + v.version
where
    v.version_id = ?2
    and m.store = ?3
    and m.visibility <= ?4
    and v.visibility <= ?4
    and (m.head <> v.version or m.expires_at is null or m.expires_at > ?5)
