select forget_memories($1, $2)
