insert into memory (
    store_id, memory_id, workspace_id, partition, owner, path, kind, source, scope, visibility,
    expires_at, attributes, head, head_id, op, revision, digest, size_bytes, is_sealed, created_at,
    updated_at, erase_at, repeat_digest, depth, hash
)
select *
from
    unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::smallint[], $11::bigint[], $12::text[], $13::bigint[],
        $14::uuid[], $15::smallint[], $16::bigint[], $17::bytea[], $18::bigint[], $19::boolean[],
        $20::bigint[], $21::bigint[], $22::bigint[], $23::bytea[], $24::int[], $25::bytea[]
    )
