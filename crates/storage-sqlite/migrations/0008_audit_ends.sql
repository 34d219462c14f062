-- The number and hash of the last event of each audit log, so that events cut off at its end show. Each
-- workspace has one from its beginning: one that is missing was taken away.
create table event_end (
    workspace_id blob not null,
    seq integer not null,
    hash blob not null,
    constraint event_end_pk primary key (workspace_id)
) without rowid;

insert into event_end (workspace_id, seq, hash)
select w.workspace_id, coalesce(e.seq, 0), coalesce(e.hash, zeroblob(32))
from workspace as w
left join event as e
    on
        e.workspace_id = w.workspace_id
        and e.seq = (select max(last.seq) from event as last where last.workspace_id = w.workspace_id);
