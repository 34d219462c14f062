insert into api_key (
    key_id, workspace_id, principal_id, name, hint, secret_hash, power, stores, session_id,
    audience, created_at, expires_at, revoked_at, acts_for_agents
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict do nothing
