select
    c.version_id, c.digest, c.size_bytes, c.is_sealed, c.content, c.seq, c.base, c.is_base,
    w.store_id
from unnest($1::uuid[]) as w (store_id)
cross join lateral (
    select
        v.version_id, v.digest, v.size_bytes, v.is_sealed, p.content, p.seq, p.base,
        exists (select 1 from payload as d where d.store_id = w.store_id and d.base = p.seq)
            as is_base
    from payload as p
    inner join version as v on v.store_id = p.store_id and v.seq = p.seq
    where p.store_id = w.store_id and v.digest is not null
    order by p.seq
) as c
