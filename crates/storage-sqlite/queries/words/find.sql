select m.memory_id
from memory_fts as f cross join memory as m on m.memory = f.rowid
where
    f.memory_fts match ?1
    and m.path is not null
    and m.visibility <= ?2
    and (m.expires_at is null or m.expires_at > ?3)
order by bm25(memory_fts, 0.0, 1.0, 1.0, 1.0), m.memory
limit ?4
