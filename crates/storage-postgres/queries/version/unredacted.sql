select seq
from version
where store_id = $1 and memory_id = $2 and redacted_at is null
order by revision
