select store_id, access, instructions, name, description, mount_path
from attachment
where session_id = ?1
order by position
