with sized as (
    select
        m.*,
        coalesce(
            sum(m.size_bytes) over (order by w.n rows between unbounded preceding and 1 preceding),
            0
        ) >= $5::bigint as is_beyond,
        w.n
    from unnest($2::uuid[]) with ordinality as w (memory_id, n)
    inner join live_memory as m on m.store_id = $1 and m.memory_id = w.memory_id
    where
        m.visibility <= $3
        and (m.expires_at is null or m.expires_at > $4)
        and not m.is_sealed
)

select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content
from sized as m
inner join payload as p on p.store_id = m.store_id and p.seq = m.head
where not m.is_beyond
order by m.n
