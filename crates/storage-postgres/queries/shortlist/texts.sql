with picked as materialized (
    select w.memory_id, w.n from unnest($2::uuid[]) with ordinality as w (memory_id, n)
),

-- This part computes the bounds of directories ahead of the conditions that use them: row security
-- lets no condition that calls a function which is not leakproof use an index.
place as materialized (
    select
        p.n, w.partition, w.place,
        split_part(w.place, chr(1), 1) || chr(1) as low,
        split_part(w.place, chr(1), 1) || chr(2) as high
    from picked as p
    inner join word as w on w.store_id = $1 and w.memory_id = p.memory_id
    where p.n <= $6
),

beside as (
    select x.memory_id, w.n
    from place as w
    cross join lateral (
        (
            select b.memory_id
            from word as b
            where
                b.store_id = $1
                and b.partition = w.partition
                and b.place < w.place
                and b.place > w.low
                and b.visibility <= $3
                and (b.expires_at is null or b.expires_at > $4)
            order by b.place desc
            limit $7
        )
        union all
        (
            select a.memory_id
            from word as a
            where
                a.store_id = $1
                and a.partition = w.partition
                and a.place > w.place
                and a.place < w.high
                and a.visibility <= $3
                and (a.expires_at is null or a.expires_at > $4)
            order by a.place
            limit $7
        )
    ) as x
),

chosen as (
    select c.memory_id, min(c.n) as n
    from (
        select p.memory_id, p.n from picked as p
        union all
        select b.memory_id, b.n + 1000000 from beside as b
    ) as c
    group by c.memory_id
),

sized as (
    select
        m.*,
        coalesce(
            sum(m.size_bytes) over (
                order by c.n, c.memory_id rows between unbounded preceding and 1 preceding
            ),
            0
        ) >= $5::bigint as is_beyond,
        c.n
    from chosen as c
    inner join live_memory as m on m.store_id = $1 and m.memory_id = c.memory_id
    where
        m.visibility <= $3
        and (m.expires_at is null or m.expires_at > $4)
        and not m.is_sealed
)

select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content, p.base, x.passages
from sized as m
inner join payload as p on p.store_id = m.store_id and p.seq = m.head
left join vector as x on x.store_id = m.store_id and x.generation = $8::int and x.seq = m.head
where not m.is_beyond
order by m.n, m.memory_id
