select s.store_id, s.seq, k.generation, k.through
from unnest($1::uuid[]) with ordinality as w (store_id, n)
inner join store as s on s.store_id = w.store_id and s.removed_at is null
left join vector_mark as k on k.store_id = s.store_id
order by w.n, k.generation
