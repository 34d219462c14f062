update memory set erase_at = null where memory = ?1 and erase_at is not null
