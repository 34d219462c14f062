select k.*, p.content, p.base
from memory as m
cross join known_version as k
    on k.version = (
        select v.version
        from version as v
        where v.memory = m.memory and v.seq <= ?3
        order by v.revision desc
        limit 1
    )
cross join payload as p on p.version = k.version
where
    m.store = ?1
    and m.memory_id > coalesce(
        (select last.memory_id from memory as last where last.memory = ?2 and last.store = ?1), x''
    )
    and m.visibility <= ?4
    and k.visibility <= ?4
    and not k.is_sealed
order by m.memory_id
