select seq, hash from event where workspace_id = ?1 order by seq desc limit 1
