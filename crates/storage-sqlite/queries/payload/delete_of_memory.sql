delete from payload where version in (select version from version where memory = ?1)
