with recursive step as (
    select p.store_id, p.seq, p.base
    from (
        select * from unnest($1::uuid[], $2::bigint[]) as u (store_id, seq)
        limit cardinality($1::uuid[])
    ) as w
    cross join lateral (
        select * from payload where store_id = w.store_id and seq = w.seq limit 1
    ) as p
    union
    select p.store_id, p.seq, p.base
    from step as s
    -- One row by its key: whatever the planner thinks of a recursion, it looks nowhere else.
    cross join lateral (
        select * from payload where store_id = s.store_id and seq = s.base limit 1
    ) as p
)

select s.store_id, s.seq, s.base, p.content
from step as s
cross join lateral (
    select content from payload where store_id = s.store_id and seq = s.seq limit 1
) as p
