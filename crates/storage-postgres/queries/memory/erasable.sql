select workspace_id, store_id, memory_id from erasable_memories($1, $2)
