delete from payload where version = ?1
