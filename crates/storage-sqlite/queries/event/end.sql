select seq, hash from event_end where workspace_id = ?1
