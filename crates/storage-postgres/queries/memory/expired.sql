select workspace_id, store_id, memory_id from expired_memories($1, $2)
