select version_id from stray_passages($1, $2) as version_id
