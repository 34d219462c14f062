select version_id from version where version_id = any($1)
