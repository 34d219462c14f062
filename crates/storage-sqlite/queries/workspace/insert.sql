insert into workspace (workspace_id, created_at) values (?1, ?2)
