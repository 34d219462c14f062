select v.version_id
from version as v left join payload as p on p.version = v.version
where
    (v.digest is null) <> (p.version is null)
    or (v.digest is null) <> (v.size_bytes is null)
    or (v.digest is null) <> (v.op = 2 or v.redacted_at is not null)
