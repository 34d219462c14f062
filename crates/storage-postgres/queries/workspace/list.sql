select workspace_id, created_at
from
    workspaces_after(
        (-9223372036854775808)::bigint,
        '00000000-0000-0000-0000-000000000000',
        9223372036854775807
    )
order by created_at, workspace_id
