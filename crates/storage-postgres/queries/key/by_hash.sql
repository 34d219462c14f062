select
    key_id, workspace_id, principal_id, name, hint, secret_hash, power, stores, session_id,
    audience, created_at, expires_at, revoked_at, acts_for_agents,
    principal_kind, principal_name, is_admin, principal_created_at, principal_memory, page
from key_by_hash($1)
