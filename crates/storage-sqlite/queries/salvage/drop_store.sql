delete from store where store_id = ?1
