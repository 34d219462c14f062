select count(*) from grant_ where store = ?1
