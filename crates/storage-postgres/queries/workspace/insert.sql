insert into workspace (workspace_id, created_at) values ($1, $2) on conflict do nothing
