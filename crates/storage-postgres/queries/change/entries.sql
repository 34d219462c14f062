select c.seq, c.op, v.version_id, c.at
from change as c
inner join version as v on v.store_id = c.store_id and v.seq = c.version_seq
where c.store_id = $1 and c.seq = any($2)
