delete from reading_mark where store_id = $1
