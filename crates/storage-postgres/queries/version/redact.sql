update version as v
set
    path = null, attributes = null, digest = null, size_bytes = null, redacted_at = w.at,
    redacted_kind = $4, redacted_id = $5
from (
    select * from unnest($2::bigint[], $3::bigint[]) as u (seq, at)
    limit cardinality($2::bigint[])
) as w
where v.store_id = $1 and v.seq = w.seq
