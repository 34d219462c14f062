delete from version where memory not in (select memory.memory from memory)
