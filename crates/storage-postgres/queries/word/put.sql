insert into word as w
(
    store_id, memory_id, workspace_id, seq, partition, visibility, expires_at, place, length, terms
)
select
    $1, x.memory_id, $2, x.seq, m.partition, m.visibility, m.expires_at, x.place, x.length,
    array_to_tsvector(string_to_array(x.terms, chr(31)))
from (
    select *
    from
        unnest($3::uuid[], $4::bigint[], $5::text[], $6::int[], $7::text[])
            as u (memory_id, seq, place, length, terms)
    limit cardinality($3::uuid[])
) as x
inner join memory as m on m.store_id = $1 and m.memory_id = x.memory_id
where m.path is not null and not m.is_sealed
order by x.memory_id
on conflict (store_id, memory_id) do update
set
    seq = excluded.seq,
    partition = excluded.partition,
    visibility = excluded.visibility,
    expires_at = excluded.expires_at,
    place = excluded.place,
    length = excluded.length,
    terms = excluded.terms
where excluded.seq >= w.seq
