insert into attachment (
    session_id, position, store_id, access, instructions, name, description, mount_path
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
