select session_id, workspace_id from session
