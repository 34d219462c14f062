select c.seq, c.at
from store as s
left join change as c on c.store_id = s.store_id and c.seq = least($2, s.seq)
where s.store_id = $1 and s.removed_at is null
