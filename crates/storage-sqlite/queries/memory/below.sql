select *
from live_memory
where store = ?1 and path >= ?2 and path < ?3 and partition = ?4 and memory <> ?5
order by path
limit 1
