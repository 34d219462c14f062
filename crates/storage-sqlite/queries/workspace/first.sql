select workspace_id from workspace order by created_at, workspace_id limit 1
