update store set removed_at = $2 where store_id = $1
