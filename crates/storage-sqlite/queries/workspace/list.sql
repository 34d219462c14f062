select workspace_id, created_at from workspace order by created_at, workspace_id
