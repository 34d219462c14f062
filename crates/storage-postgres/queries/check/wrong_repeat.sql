select m.memory_id
from memory as m
inner join store as s on s.store_id = m.store_id
where
    m.store_id = any($1)
    and m.repeat_digest is distinct from case
        when s.repeats <> 0 and m.path is not null and not m.is_sealed then m.digest
    end
limit $2
