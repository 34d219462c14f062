-- Groups and who is in them, stores that are found by a foreign name, what an operator switched
-- off, and the audit log.

-- Which memory the principal may not use, as bits; 0 is all of it on.
alter table principal add column memory integer not null default 0;

-- Whether the key may act for any agent that a request names.
alter table api_key add column acts_for_agents integer not null default 0;

-- The foreign name that leads to the store. A removed store frees it at once.
alter table store add column address text;

create unique index store_address_unique on store (workspace_id, address)
where address is not null and removed_at is null;

-- Who is in a group right now; both are principals of one workspace.
create table membership (
    group_id blob not null,
    member_id blob not null,
    since integer not null,
    constraint membership_pk primary key (group_id, member_id)
) without rowid;

-- For the question in which groups somebody is.
create index membership_by_member on membership (member_id, group_id);

-- For the question what somebody gave, when it stands on nothing any more.
create index grant_by_giver on grant_ (given_by);

-- The audit log of each workspace: 1, 2, 3 … without gaps, each with a hash over itself and the
-- hash before it. Its store and subject are only named, because it outlives them.
create table event (
    workspace_id blob not null,
    seq integer not null,
    at integer not null,
    actor_kind integer not null,
    actor_id blob,
    principal_id blob not null,
    kind text not null,
    store_id blob,
    subject text,
    detail text,
    hash blob not null,
    constraint event_pk primary key (workspace_id, seq)
) without rowid;
