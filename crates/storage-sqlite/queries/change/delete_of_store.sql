delete from change where store = ?1
