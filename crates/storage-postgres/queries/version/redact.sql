update version as v
set
    path = null, attributes = null, digest = null, size_bytes = null, redacted_at = w.at,
    redacted_kind = $4, redacted_id = $5
from unnest($2::bigint[], $3::bigint[]) as w (seq, at)
where v.store_id = $1 and v.seq = w.seq
