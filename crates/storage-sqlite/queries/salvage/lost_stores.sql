select
    m.store, min(m.owner), min(m.created_at), max(m.partition <> x''),
    (select w.workspace_id from workspace as w order by w.created_at limit 1)
from memory as m
where m.store not in (select s.store from store as s)
group by m.store
