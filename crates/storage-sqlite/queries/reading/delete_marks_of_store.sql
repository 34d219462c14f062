delete from reading_mark where store = ?1
