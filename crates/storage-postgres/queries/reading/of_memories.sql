select m.memory_id, v.version_id, r.reader, r.claims, r.read_at
from (
    select * from unnest($2::uuid[]) with ordinality as u (memory_id, n)
    limit cardinality($2::uuid[])
) as w
inner join memory as m on m.store_id = $1 and m.memory_id = w.memory_id
inner join reading as r on r.store_id = $1 and r.memory_id = m.memory_id
inner join version as v on v.store_id = $1 and v.seq = r.seq
where
    m.path is not null
    and m.visibility <= $3
    and (m.expires_at is null or m.expires_at > $4)
    and not m.is_sealed
    and v.digest = m.digest
order by w.n, r.reader
