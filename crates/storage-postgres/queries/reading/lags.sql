select l.workspace_id, l.store_id, l.through
from unread_stores($1, $2, $3) as l
