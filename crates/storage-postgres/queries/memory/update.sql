update memory as m
set
    path = w.path, kind = w.kind, source = w.source, scope = w.scope, visibility = w.visibility,
    expires_at = w.expires_at, attributes = w.attributes, head = w.head, head_id = w.head_id,
    op = w.op, revision = w.revision, digest = w.digest, size_bytes = w.size_bytes,
    is_sealed = w.is_sealed, updated_at = w.updated_at, erase_at = w.erase_at,
    repeat_digest = w.repeat_digest, depth = w.depth, hash = w.hash
from (
    select *
    from
        unnest(
            $1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[],
            $7::text[], $8::text[], $9::text[], $10::smallint[], $11::bigint[],
            $12::text[], $13::bigint[], $14::uuid[], $15::smallint[], $16::bigint[],
            $17::bytea[], $18::bigint[], $19::boolean[], $20::bigint[], $21::bigint[],
            $22::bigint[], $23::bytea[], $24::int[], $25::bytea[]
        ) as u (
            store_id, memory_id, workspace_id, partition, owner, path, kind, source,
            scope, visibility, expires_at, attributes, head, head_id, op, revision,
            digest, size_bytes, is_sealed, created_at, updated_at, erase_at,
            repeat_digest, depth, hash
        )
    limit cardinality($1::uuid[])
) as w
where m.store_id = w.store_id and m.memory_id = w.memory_id
