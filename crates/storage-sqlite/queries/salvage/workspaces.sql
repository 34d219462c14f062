insert or ignore into workspace (workspace_id, created_at)
select workspace_id, min(created_at)
from (
    select workspace_id, created_at from store
    union all
    select workspace_id, created_at from principal
)
group by workspace_id
