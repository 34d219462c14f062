delete from reading_end where store_id = $1
