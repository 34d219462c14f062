select v.version_id
from version as v
where
    v.memory = ?1
    and v.revision < ?2
    and v.revision >= ?2 - ?3
    and v.digest = ?4
    and exists (select 1 from vector as x where x.vector = ?5 * 1099511627776 + v.version)
order by v.revision desc
limit 1
