select coalesce(v.version_id, w.memory_id)
from word as w
left join version as v on v.store_id = w.store_id and v.seq = w.seq
where
    w.store_id = any($1)
    and (v.seq is null or v.memory_id <> w.memory_id or v.digest is null or v.is_sealed)
limit $2
