delete from reading_end where store = ?1
