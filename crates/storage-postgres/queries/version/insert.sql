insert into version (
    store_id, seq, workspace_id, version_id, memory_id, revision, op, path, attributes, visibility,
    digest, size_bytes, is_sealed, actor_kind, actor_id, created_at, request, reason, derived_from,
    redacted_at, redacted_kind, redacted_id
)
select *
from
    unnest(
        $1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::uuid[], $6::bigint[], $7::smallint[],
        $8::text[], $9::text[], $10::smallint[], $11::bytea[], $12::bigint[], $13::boolean[],
        $14::smallint[], $15::uuid[], $16::bigint[], $17::text[], $18::text[], $19::bytea[],
        $20::bigint[], $21::smallint[], $22::uuid[]
    )
