update event_end set seq = $2, hash = $3 where workspace_id = $1
