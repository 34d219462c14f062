select *
from known_version
where memory = ?1 and seq < ?2 and memory_visibility <= ?3
order by revision desc
