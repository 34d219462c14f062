select session_id, store_id, access, instructions, name, description, mount_path
from attachment
where session_id = any($1)
order by session_id, position
