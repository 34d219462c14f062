select workspace_id, created_at from workspaces_after($1, $2, $3)
