with touched as (
    select v.memory_id, min(c.seq) as seq
    from change as c
    inner join version as v on v.store_id = c.store_id and v.seq = c.version_seq
    where c.store_id = $1 and c.seq > $2 and c.seq <= $3
    group by v.memory_id
),

sized as (
    select
        m.*, t.memory_id as touched_id, t.seq,
        coalesce(
            sum(m.size_bytes) over (
                order by t.seq rows between unbounded preceding and 1 preceding
            ),
            0
        ) >= $6::bigint as is_beyond
    from touched as t
    left join live_memory as m
        on m.store_id = $1
        and m.memory_id = t.memory_id
        and m.visibility <= $4
        and (m.expires_at is null or m.expires_at > $5)
        and not m.is_sealed
)

select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content, p.base, m.is_beyond,
    m.touched_id, m.seq, s.seq
from store as s
left join sized as m on true
left join payload as p on not m.is_beyond and p.store_id = m.store_id and p.seq = m.head
where s.store_id = $1 and s.removed_at is null
order by m.seq
