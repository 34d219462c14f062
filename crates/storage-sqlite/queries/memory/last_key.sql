select coalesce(max(memory), 0) from memory
