select coalesce(max(seq), 0) from event where workspace_id = $1
