delete from grant_ where store = ?1
