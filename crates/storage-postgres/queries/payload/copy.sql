insert into payload (store_id, seq, workspace_id, content)
select p.store_id, w.new_seq, p.workspace_id, p.content
from (
    select *
    from
        unnest(
            $1::uuid[], $2::bigint[], $3::bigint[]
        ) as u (
            store_id, old_seq, new_seq
        )
    limit cardinality($1::uuid[])
) as w
inner join payload as p on p.store_id = w.store_id and p.seq = w.old_seq
