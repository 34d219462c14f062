select 1 from store where store_id = $1 and removed_at is null
