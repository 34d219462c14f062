update principal
set memory = $3
where principal_id = $1 and workspace_id = $2
returning principal_id, workspace_id, kind, name, is_admin, created_at, memory
