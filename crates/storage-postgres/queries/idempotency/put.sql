insert into idempotency (workspace_id, scope, key, fingerprint, kind, refs, at)
select *
from
    unnest(
        $1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::smallint[], $6::bytea[], $7::bigint[]
    )
