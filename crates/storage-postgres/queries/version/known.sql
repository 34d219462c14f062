select version_id from version where store_id = $1 and version_id = any($2)
