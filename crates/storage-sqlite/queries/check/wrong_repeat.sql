select m.memory_id
from memory as m cross join store as s on s.store = m.store
where
    m.repeat_digest
    is not iif(s.repeats <> 0 and m.path is not null and not m.is_sealed, m.digest, null)
