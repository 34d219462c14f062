select principal_id, workspace_id, kind, name, is_admin, created_at, memory
from principal
where principal_id = $1
