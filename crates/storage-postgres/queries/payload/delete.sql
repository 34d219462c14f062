delete from payload where store_id = $1 and seq = any($2)
