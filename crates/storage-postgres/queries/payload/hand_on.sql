update payload as d
set content = r.content || d.content, base = r.base
from payload as r
where
    r.store_id = $1
    and r.seq = any($2)
    and d.store_id = r.store_id
    and d.base = r.seq
    and d.seq <> all($2)
