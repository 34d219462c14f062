insert into vector (store_id, generation, seq, workspace_id, passages)
select $1, $2, w.seq, $3, w.passages
from unnest($4::bigint[], $5::bytea[]) as w (seq, passages)
order by w.seq
on conflict (store_id, generation, seq) do update set passages = excluded.passages
