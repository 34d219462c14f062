select 1 from workspace where workspace_id = $1 for share
