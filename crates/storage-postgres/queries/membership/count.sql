select count(*) from membership where workspace_id = $1 and group_id = $2
