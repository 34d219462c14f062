insert into redaction (
    store_id, seq, workspace_id, version_seq, actor_kind, actor_id, at, reason
)
select *
from
    unnest(
        $1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::smallint[], $6::uuid[],
        $7::bigint[], $8::text[]
    )
