select m.*
from memory as r cross join live_memory as m on m.memory = r.memory
where
    r.store = ?1
    and r.repeat_digest = ?2
    and r.partition = ?3
    and r.visibility <= ?4
    and (r.expires_at is null or r.expires_at > ?5)
order by r.memory
limit 1
