select
    exists (select 1 from api_key where key_id = $1) or exists (select 1 from key_by_hash($2)),
    exists (select 1 from principal where principal_id = $3)
