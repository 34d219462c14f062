select at from change where store = ?1 and seq = ?2
