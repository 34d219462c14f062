select m.memory_id
from memory as m
where (
    select count(*) <> max(v.revision) or min(v.revision) <> 1
    from version as v
    where v.memory = m.memory
)
