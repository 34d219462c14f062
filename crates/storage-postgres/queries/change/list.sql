select
    c.seq, c.op, v.memory_id, v.version_id, v.revision,
    case when m.visibility <= $4 then v.path end, c.actor_kind, c.actor_id, c.at, c.reason
from change as c
inner join version as v on v.store_id = c.store_id and v.seq = c.version_seq
inner join memory as m on m.store_id = v.store_id and m.memory_id = v.memory_id
where
    c.store_id = $1
    and (select s.removed_at is null from store as s where s.store_id = $1)
    and c.seq > $2
    and c.seq <= $3
order by c.seq
