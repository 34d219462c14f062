select w.store_id, s.seq, k.generation, k.through
from (
    select * from unnest($1::uuid[]) with ordinality as u (store_id, n)
    limit cardinality($1::uuid[])
) as w
cross join lateral (
    select store.seq
    from store
    where store.store_id = w.store_id and store.removed_at is null
    limit 1
) as s
left join vector_mark as k on k.store_id = w.store_id
order by w.n, k.generation
