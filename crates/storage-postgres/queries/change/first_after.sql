-- What is looked up stands in subqueries of its own, so that each is one step down an index.
-- `offset 0` keeps the arithmetic out of their conditions: row security lets no condition that
-- calls a function which is not leakproof use an index.
with recursive halving (low, high) as (
    select
        case when s.last_at is null or s.last_at <= $2 then s.seq + 1 else 1 end, s.seq + 1
    from store as s
    where s.store_id = $1 and s.removed_at is null

    union all

    select
        case when c.at <= $2 then c.middle + 1 else c.low end,
        case when c.at <= $2 then c.high else c.middle end
    from (
        select
            h.low, h.high, h.middle,
            coalesce(
                (
                    select v.created_at
                    from version as v
                    where v.store_id = $1 and v.seq = h.middle
                ),
                (select r.at from redaction as r where r.store_id = $1 and r.seq = h.middle)
            ) as at
        from (
            select low, high, low + (high - low) / 2 as middle
            from halving
            where low < high
            offset 0
        ) as h
    ) as c
    where c.at is not null
)

select low from halving where low >= high
