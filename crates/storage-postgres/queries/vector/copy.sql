insert into vector (store_id, generation, seq, workspace_id, passages)
select x.store_id, x.generation, w.new_seq, x.workspace_id, x.passages
from (
    select * from unnest($3::bigint[], $4::bigint[]) as u (old_seq, new_seq)
    limit cardinality($3::bigint[])
) as w
inner join vector as x on x.store_id = $1 and x.generation = $2 and x.seq = w.old_seq
order by w.new_seq
on conflict (store_id, generation, seq) do update set passages = excluded.passages
