insert into payload (version, content, base) values (?1, ?2, ?3)
