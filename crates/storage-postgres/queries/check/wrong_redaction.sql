select r.store_id
from redaction as r
left join version as v on v.store_id = r.store_id and v.seq = r.version_seq
where r.store_id = any($1) and v.redacted_at is null
limit $2
