with walked as (
    select
        m.*,
        coalesce(
            sum(m.size_bytes) over (
                order by m.created_at rows between unbounded preceding and 1 preceding
            ),
            0
        ) >= $6::bigint as is_beyond
    from live_memory as m
    where
        m.store_id = $1
        and m.created_at > $2
        and m.visibility <= $3
        and (m.expires_at is null or m.expires_at > $4)
        and not m.is_sealed
    order by m.created_at
    limit $5
)

select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content, p.base, m.is_beyond
from store as s
left join walked as m on true
left join payload as p on not m.is_beyond and p.store_id = m.store_id and p.seq = m.head
where s.store_id = $1 and s.removed_at is null
order by m.created_at
