with walked as (
    select v.*, m.owner, m.partition, m.created_at as memory_created_at
    from memory as m
    cross join lateral (
        select newest.*
        from version as newest
        where
            newest.store_id = m.store_id
            and newest.memory_id = m.memory_id
            and newest.seq <= $3
        order by newest.revision desc
        limit 1
    ) as v
    where
        m.store_id = $1
        and m.memory_id > (
            select coalesce(
                (
                    select last.memory_id
                    from version as last
                    where last.store_id = $1 and last.seq = $2
                ),
                '00000000-0000-0000-0000-000000000000'
            )
        )
        and m.visibility <= $4
        and v.visibility <= $4
        and v.digest is not null
        and not v.is_sealed
    order by m.memory_id
    limit $5
),

sized as (
    select
        *,
        coalesce(
            sum(size_bytes) over (
                order by memory_id rows between unbounded preceding and 1 preceding
            ),
            0
        ) >= $6::bigint as is_beyond
    from walked
)

select
    k.version_id, k.memory_id, k.revision, k.seq, k.op, k.path, k.attributes, k.digest,
    k.size_bytes, k.actor_kind, k.actor_id, k.created_at, k.request, k.reason, k.derived_from,
    k.redacted_at, k.redacted_kind, k.redacted_id, k.is_sealed, k.owner, k.partition,
    k.memory_created_at, p.content, p.base, k.is_beyond
from sized as k
left join payload as p on not k.is_beyond and p.store_id = k.store_id and p.seq = k.seq
order by k.memory_id
