delete from store where store = ?1
