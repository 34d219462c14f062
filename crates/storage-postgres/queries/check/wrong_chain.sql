with recursive step as (
    select m.store_id, m.memory_id, p.base as seq, 1 as n
    from memory as m
    inner join payload as p on p.store_id = m.store_id and p.seq = m.head
    where m.store_id = any($1) and p.base is not null
    union all
    select s.store_id, s.memory_id, p.base, s.n + 1
    from step as s
    cross join lateral (
        select base from payload where store_id = s.store_id and seq = s.seq limit 1
    ) as p
    where p.base < s.seq
),

chain as (
    select store_id, memory_id, max(n) as depth from step group by store_id, memory_id
)

select m.memory_id
from memory as m
left join chain as c on c.store_id = m.store_id and c.memory_id = m.memory_id
where
    m.store_id = any($1)
    and (
        coalesce(c.depth, 0) > m.depth
        or (m.path is null and (m.depth <> 0 or m.hash is not null))
        or (m.is_sealed and m.depth <> 0)
    )
limit $2
