select seq, content, base from payload where store_id = $1 and seq = any($2)
