select workspace_id, store_id from crowded_stores($1)
