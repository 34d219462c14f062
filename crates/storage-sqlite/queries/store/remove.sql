update store set removed_at = ?2 where store = ?1
