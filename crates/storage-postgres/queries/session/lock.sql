select
    session_id, workspace_id, owner, title, metadata, agent_id, agent_version, details, created_at,
    updated_at, archived_at
from session
where session_id = $1 and workspace_id = $2
for update
