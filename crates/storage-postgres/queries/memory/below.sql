-- The caller computes the bounds: row security lets no condition that calls a function which is not
-- leakproof, such as a concatenation, use an index.
select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, m.op, m.erase_at, m.visibility,
    m.depth, m.hash, m.store_id, w.partition, w.path
from (
    select *
    from
        unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[])
            as u (store_id, partition, path, low, high)
    limit cardinality($1::uuid[])
) as w
cross join lateral (
    select b.*
    from memory as b
    where
        b.store_id = w.store_id
        and b.path >= w.low
        and b.path < w.high
        and b.partition = w.partition
        and b.memory_id <> $6
    order by b.path
    limit 1
) as m
