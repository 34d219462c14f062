select workspace_id
from workspaces_after((-9223372036854775808)::bigint, '00000000-0000-0000-0000-000000000000', 1)
