select principal_id, workspace_id, kind, name, is_admin, created_at, memory
from principal
where workspace_id = $1 and name = $2
