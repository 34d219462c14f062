select 1
from memory
where store = ?1 and path >= ?2 and path < ?3 and partition = ?4 and memory <> ?5
limit 1
