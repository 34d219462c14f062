delete from vector where store_id = $1
