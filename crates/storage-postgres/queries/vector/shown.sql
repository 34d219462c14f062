select w.n, x.passages
from (
    select * from unnest($2::uuid[]) with ordinality as u (version_id, n)
    limit cardinality($2::uuid[])
) as w
inner join version as v on v.store_id = $1 and v.version_id = w.version_id
inner join memory as m on m.store_id = v.store_id and m.memory_id = v.memory_id
inner join vector as x on x.store_id = v.store_id and x.generation = $3 and x.seq = v.seq
where
    m.visibility <= $4
    and v.visibility <= $4
    and (m.head <> v.seq or m.expires_at is null or m.expires_at > $5)
