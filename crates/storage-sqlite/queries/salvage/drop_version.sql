delete from version where version = ?1
