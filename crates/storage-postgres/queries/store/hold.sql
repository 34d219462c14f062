select seq from store where store_id = $1 and removed_at is null for key share
