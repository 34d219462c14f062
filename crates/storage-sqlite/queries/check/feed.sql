select seq, at from change where store = ?1 order by seq
