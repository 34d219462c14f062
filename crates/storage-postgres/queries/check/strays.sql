select kind, store_id from strays($1)
