select v.store_id, v.seq, p.content, p.base, v.is_sealed, v.digest
from (
    select * from unnest($1::uuid[], $2::bigint[]) as u (store_id, seq)
    limit cardinality($1::uuid[])
) as w
inner join version as v on v.store_id = w.store_id and v.seq = w.seq and v.digest is not null
left join payload as p on p.store_id = v.store_id and p.seq = v.seq
