select
    w.n,
    (
        select v.version_id
        from version as v
        where
            v.store_id = $1
            and v.memory_id = w.memory_id
            and v.revision < w.revision
            and v.revision >= w.oldest
            and v.digest = w.digest
            and exists (
                select 1
                from vector as x
                where x.store_id = v.store_id and x.generation = $2 and x.seq = v.seq
            )
        order by v.revision desc
        limit 1
    )
from (
    -- The caller computes the oldest revision: row security lets no condition that calls a function
    -- which is not leakproof use an index. The limit keeps the values apart from the tables.
    select u.*
    from
        unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[])
            with ordinality
            as u (memory_id, head, revision, digest, oldest, n)
    limit cardinality($3::uuid[])
) as w
where
    not exists (
        select 1
        from vector as x
        where x.store_id = $1 and x.generation = $2 and x.seq = w.head
    )
order by w.n
