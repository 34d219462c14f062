insert into reading (store_id, memory_id, reader, workspace_id, seq, number, read_at, claims)
select $1, w.memory_id, $2, $3, w.seq, w.number, w.read_at, w.claims
from
    unnest($4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[])
        as w (memory_id, seq, number, read_at, claims)
on conflict (store_id, memory_id, reader) do update set
seq = excluded.seq, number = excluded.number, read_at = excluded.read_at, claims = excluded.claims
