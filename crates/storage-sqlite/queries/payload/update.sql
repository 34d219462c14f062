update payload set content = ?2, base = ?3 where version = ?1
