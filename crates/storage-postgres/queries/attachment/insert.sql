insert into attachment (
    session_id, position, workspace_id, store_id, access, instructions, name, description,
    mount_path
)
select $1, a.position - 1, $2, a.store_id, a.access, a.instructions, a.name, a.description,
    a.mount_path
from
    unnest($3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[])
        with ordinality
        as a (store_id, access, instructions, name, description, mount_path, position)
