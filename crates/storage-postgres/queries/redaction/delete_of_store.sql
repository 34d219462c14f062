delete from redaction where store_id = $1
