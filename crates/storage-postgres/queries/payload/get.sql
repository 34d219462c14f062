select content, base from payload where store_id = $1 and seq = $2
