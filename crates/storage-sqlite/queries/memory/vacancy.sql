select
    exists (select 1 from memory where store = ?1 and path = ?2 and partition = ?3),
    exists (select 1 from memory where store = ?1 and path >= ?4 and path < ?5 and partition = ?3),
    exists (select 1 from memory where store = ?1 and path >= ?6 and path < ?7 and partition = ?3)
