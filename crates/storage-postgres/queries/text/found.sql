select
    m.memory_id, m.partition, m.owner, m.path, m.attributes, m.head_id, m.revision, m.digest,
    m.size_bytes, m.is_sealed, m.created_at, m.updated_at, m.head, p.content, p.base, m.store_id
from (
    select * from unnest($1::uuid[], $2::uuid[]) with ordinality as u (store_id, memory_id, n)
    limit cardinality($1::uuid[])
) as w
inner join live_memory as m on m.store_id = w.store_id and m.memory_id = w.memory_id
left join payload as p on $5::boolean and p.store_id = m.store_id and p.seq = m.head
where
    (select s.removed_at is null from store as s where s.store_id = w.store_id)
    and m.visibility <= $3
    and (m.expires_at is null or m.expires_at > $4)
    and not m.is_sealed
order by w.n
