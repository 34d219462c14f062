select
    w.n,
    (
        select v.version_id
        from version as v
        where
            v.store_id = $1
            and v.memory_id = w.memory_id
            and v.revision < w.revision
            and v.revision >= w.revision - $7
            and v.digest = w.digest
            and exists (
                select 1
                from vector as x
                where x.store_id = v.store_id and x.generation = $2 and x.seq = v.seq
            )
        order by v.revision desc
        limit 1
    )
from
    unnest($3::uuid[], $4::bigint[], $5::bigint[], $6::bytea[])
        with ordinality
        as w (memory_id, head, revision, digest, n)
where
    not exists (
        select 1
        from vector as x
        where x.store_id = $1 and x.generation = $2 and x.seq = w.head
    )
order by w.n
