insert into memory_fts (rowid, store, path, tags, content) values (?1, ?2, ?3, ?4, ?5)
