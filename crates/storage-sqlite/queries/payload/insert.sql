insert into payload (version, content) values (?1, ?2)
