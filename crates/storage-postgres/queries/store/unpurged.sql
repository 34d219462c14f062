select workspace_id, store_id from unpurged_stores($1)
