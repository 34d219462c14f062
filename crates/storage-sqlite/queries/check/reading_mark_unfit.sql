select s.store_id
from reading_mark as m
left join store as s on s.store = m.store
where m.through > s.seq
