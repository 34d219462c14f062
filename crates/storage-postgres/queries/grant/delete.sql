delete from grant_ where store_id = $1 and grant_id = any($2)
