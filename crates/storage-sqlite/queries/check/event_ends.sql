select w.workspace_id, e.seq, e.hash
from (
    select workspace_id from workspace
    union
    select workspace_id from event
    union
    select workspace_id from event_end
) as w
left join event_end as e on e.workspace_id = w.workspace_id
order by w.workspace_id
