delete from version where memory = ?1
