select max(at)
from (
    select max(max(updated_at, coalesce(last_at, updated_at))) as at
    from store
    where workspace_id = ?1 and removed_at is null
    union all
    select max(created_at) as at from session where workspace_id = ?1
    union all
    select at from event
    where
        workspace_id = ?1
        and seq = (select max(seq) from event where workspace_id = ?1)
)
