select l.workspace_id, l.store_id, l.through, l.seq
from lagging_stores($1, $2) as l
where exists (select 1 from generation as g where g.generation = $1)
