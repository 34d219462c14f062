select coalesce(sum(requests), 0), coalesce(sum(tokens), 0)
from reading_mark
where reader = ?1 and day = ?2
