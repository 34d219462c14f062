select w.n
from unnest($3::uuid[], $4::bytea[]) with ordinality as w (memory_id, digest, n)
where
    not exists (
        select 1
        from reading as r
        inner join version as v on v.store_id = r.store_id and v.seq = r.seq
        where
            r.store_id = $1
            and r.memory_id = w.memory_id
            and r.reader = $2
            and v.digest = w.digest
    )
order by w.n
