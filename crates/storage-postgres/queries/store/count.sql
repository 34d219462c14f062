update store as s
set
    seq = c.seq, last_at = c.last_at, memory_count = c.memory_count,
    content_bytes = c.content_bytes, version_count = c.version_count
from (
    select *
    from
        unnest(
            $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
            $6::bigint[]
        ) as u (
            store_id, seq, last_at, memory_count, content_bytes, version_count
        )
    limit cardinality($1::uuid[])
) as c
where s.store_id = c.store_id
