select coalesce(sum(memory_count), 0)::bigint, coalesce(sum(content_bytes), 0)::bigint
from store
where workspace_id = $1 and removed_at is null and left(address, length($2::text)) = $2::text and owner = $3
