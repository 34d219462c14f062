select coalesce(v.version_id, '00000000-0000-0000-0000-000000000000')
from (
    select store_id, seq, version_id, op, digest, size_bytes, redacted_at
    from version
    where store_id = any($1)
) as v
full join (select store_id, seq from payload where store_id = any($1)) as p
    on p.store_id = v.store_id and p.seq = v.seq
where
    (v.digest is null) <> (p.seq is null)
    or (v.digest is null) <> (v.size_bytes is null)
    or (v.digest is null) <> (v.op = 2 or v.redacted_at is not null)
limit $2
