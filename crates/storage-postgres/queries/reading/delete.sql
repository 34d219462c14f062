delete from reading where store_id = $1 and seq = any($2)
