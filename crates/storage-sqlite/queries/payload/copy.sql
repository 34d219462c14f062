insert into payload (version, content) select ?2, content from payload where version = ?1
