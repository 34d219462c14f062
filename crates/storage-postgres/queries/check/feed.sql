select e.store_id, e.seq, e.before, e.is_late
from (
    select
        c.store_id,
        c.seq,
        coalesce(lag(c.seq) over feed, 0) as before,
        coalesce(c.at <= lag(c.at) over feed, false) as is_late
    from change as c
    where c.store_id = any($1)
    window feed as (partition by c.store_id order by c.seq)
) as e
where e.seq <> e.before + 1 or e.is_late
order by e.store_id, e.seq
limit $2
