insert into event_end (workspace_id, seq, hash) values ($1, 0, $2) on conflict do nothing
