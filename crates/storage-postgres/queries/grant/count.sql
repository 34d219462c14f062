select count(*) from grant_ where store_id = $1
