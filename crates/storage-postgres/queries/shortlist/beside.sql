select m.memory_id
from unnest($2::text[], $3::uuid[]) with ordinality as w (path, partition, n)
cross join lateral (
    (
        select b.memory_id
        from memory as b
        where
            b.store_id = $1
            and b.path < w.path
            and b.partition = w.partition
            and b.visibility <= $4
            and (b.expires_at is null or b.expires_at > $5)
            and not b.is_sealed
        order by b.path desc
        limit $6
    )
    union all
    (
        select a.memory_id
        from memory as a
        where
            a.store_id = $1
            and a.path > w.path
            and a.partition = w.partition
            and a.visibility <= $4
            and (a.expires_at is null or a.expires_at > $5)
            and not a.is_sealed
        order by a.path
        limit $6
    )
) as m
order by w.n
