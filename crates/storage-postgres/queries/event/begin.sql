insert into event_end (workspace_id, seq, hash) values ($1, $2, $3) on conflict do nothing
