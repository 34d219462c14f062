insert into word as w (store_id, memory_id, workspace_id, seq, terms)
select $1, x.memory_id, $2, x.seq, array_to_tsvector(string_to_array(x.terms, chr(31)))
from unnest($3::uuid[], $4::bigint[], $5::text[]) as x (memory_id, seq, terms)
order by x.memory_id
on conflict (store_id, memory_id) do update set seq = excluded.seq, terms = excluded.terms
where excluded.seq >= w.seq
