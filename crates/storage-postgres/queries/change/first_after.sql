with recursive halving (low, high) as (
    select
        case when s.last_at is null or s.last_at <= $2 then s.seq + 1 else 1 end, s.seq + 1
    from store as s
    where s.store_id = $1 and s.removed_at is null

    union all

    select
        case when c.at <= $2 then h.middle + 1 else h.low end,
        case when c.at <= $2 then h.high else h.middle end
    from (select low, high, low + (high - low) / 2 as middle from halving) as h
    cross join lateral (
        select e.at from change as e where e.store_id = $1 and e.seq = h.middle
    ) as c
    where h.low < h.high
)

select low from halving where low >= high
