with recursive step (memory, version, n) as (
    select m.memory, p.base, 1
    from memory as m cross join payload as p on p.version = m.head
    where p.base is not null
    union all
    select s.memory, p.base, s.n + 1
    from step as s cross join payload as p on p.version = s.version
    where p.base < s.version
),

chain as (select memory, max(n) as depth from step group by memory)

select m.memory_id
from memory as m left join chain as c on c.memory = m.memory
where
    coalesce(c.depth, 0) > m.depth
    or (m.path is null and (m.depth <> 0 or m.hash is not null))
    or (m.is_sealed and m.depth <> 0)
