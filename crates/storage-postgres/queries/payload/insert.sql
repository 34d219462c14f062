insert into payload (store_id, seq, workspace_id, content, base)
select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bytea[], $5::bigint[])
