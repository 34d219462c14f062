select 1 from version where version_id = ?1
