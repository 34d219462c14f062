delete from reading where store_id = $1
