select store_id from store
