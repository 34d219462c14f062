update api_key
set revoked_at = coalesce(revoked_at, $3)
where key_id = $1 and workspace_id = $2
returning
    key_id, workspace_id, principal_id, name, hint, secret_hash, power, stores, session_id,
    audience, created_at, expires_at, revoked_at, acts_for_agents
