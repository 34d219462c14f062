delete from grant_ where store = ?1 and grantee = ?2
