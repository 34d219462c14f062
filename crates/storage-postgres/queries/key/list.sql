select
    key_id, workspace_id, principal_id, name, hint, secret_hash, power, stores, session_id,
    audience, created_at, expires_at, revoked_at, acts_for_agents
from api_key
where workspace_id = $1
order by created_at, key_id
