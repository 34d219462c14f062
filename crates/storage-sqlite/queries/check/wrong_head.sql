select m.memory_id
from memory as m left join version as v on v.version = m.head
where
    v.version is null
    or v.memory <> m.memory
    or v.revision <> m.revision
    or m.revision <> (select max(newest.revision) from version as newest where newest.memory = m.memory)
    or (m.path is not null and (m.path is not v.path or m.digest is not v.digest))
    or (m.path is null and v.op <> 2 and v.redacted_at is null)
    or (m.path is not null and v.op = 2)
