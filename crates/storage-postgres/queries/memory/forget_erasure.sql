update memory
set erase_at = null
where store_id = $1 and memory_id = $2 and erase_at is not null
