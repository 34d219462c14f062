select e.store_id, e.number, e.forgotten
from (
    select * from unnest($1::uuid[]) with ordinality as u (store_id, n)
    limit cardinality($1::uuid[])
) as w
inner join reading_end as e on e.store_id = w.store_id
inner join store as s on s.store_id = w.store_id and s.removed_at is null
order by w.n
