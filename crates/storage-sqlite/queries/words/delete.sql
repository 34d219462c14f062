insert into memory_fts (memory_fts, rowid, store, path, tags, content)
values ('delete', ?1, ?2, ?3, ?4, ?5)
