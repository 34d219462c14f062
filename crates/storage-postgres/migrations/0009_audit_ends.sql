-- Each workspace has the end of its audit log from its beginning: one that is missing was taken away.
insert into event_end (workspace_id, seq, hash)
select w.workspace_id, 0, decode(repeat('00', 32), 'hex')
from workspace as w
where not exists (select 1 from event_end as e where e.workspace_id = w.workspace_id)
on conflict do nothing;
