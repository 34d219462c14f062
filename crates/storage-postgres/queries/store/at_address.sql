select store_id
from store
where workspace_id = $1 and address = $2 and removed_at is null
