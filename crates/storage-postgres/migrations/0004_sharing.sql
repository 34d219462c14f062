-- Sharing: who is in which group, stores that are found by a foreign name, which memory a principal
-- may use, keys that act for agents, and the audit log.

-- What was switched off, as bits; zero is nothing.
alter table principal add column memory smallint not null default 0;

alter table api_key add column acts_for_agents boolean not null default false;

-- The foreign name that leads to a store. One that is removed gives its name up at once.
alter table store add column address text collate "C";

create unique index store_address_unique on store (workspace_id, address)
where address is not null and removed_at is null;

-- Who is in which group right now. Whoever changes it holds the row of the workspace, because who may
-- give what depends on all groups that two are in together, and a group takes only so many.
create table membership (
    workspace_id uuid not null,
    group_id uuid not null,
    member_id uuid not null,
    since bigint not null,
    constraint membership_pk primary key (workspace_id, group_id, member_id)
);

create index membership_by_member on membership (workspace_id, member_id, group_id);

-- The audit log of each workspace: 1, 2, 3 … without gaps, each with a hash over itself and the hash
-- before it. Only ever added to. The store is not called store_id, because what happened to a store
-- outlives it.
create table event (
    workspace_id uuid not null,
    seq bigint not null,
    at bigint not null,
    actor_kind smallint not null,
    actor_id uuid,
    principal uuid not null,
    kind text not null,
    store uuid,
    subject text,
    detail text,
    hash bytea not null,
    constraint event_pk primary key (workspace_id, seq)
);

-- The number and hash of the last event. The row is the lock of the log: whoever adds to it holds it
-- until the commit.
create table event_end (
    workspace_id uuid not null constraint event_end_pk primary key,
    seq bigint not null,
    hash bytea not null
)
with (fillfactor = 50);

-- As for the tables of memories: a plan must be right for a workspace that is most of a table.
alter table membership alter column workspace_id set (n_distinct = 1);

alter table event alter column workspace_id set (n_distinct = 1);

do $$
declare
    tenants_table text;
begin
    foreach tenants_table in array array['membership', 'event', 'event_end']
    loop
        execute format('alter table %I enable row level security', tenants_table);
        execute format('alter table %I force row level security', tenants_table);
        execute format(
            'create policy tenant on %I to loci_app using ('
            'workspace_id = (select nullif(current_setting(''loci.workspace'', true), '''')::uuid)'
            ')',
            tenants_table
        );
        execute format('create policy owner on %I to current_user using (true)', tenants_table);
    end loop;
end
$$;

grant select, insert, update, delete on membership to loci_app;

-- No server may change or take away what the log says.
grant select, insert on event to loci_app;

grant select, insert, update on event_end to loci_app;

-- Whose stores somebody is near to, and how: 0, groups that they are in; 1, users who are in one of
-- these groups, too. A function rather than a join, so that statements are planned for few of them.
create function near(of_workspace uuid, who uuid)
returns table (owner uuid, relation smallint)
language plpgsql stable rows 20 set search_path = loci, pg_temp
as $$
begin
    return query
    select m.group_id, 0::smallint
    from membership as m
    where m.workspace_id = of_workspace and m.member_id = who
    union all
    select distinct o.member_id, 1::smallint
    from membership as m
    inner join membership as o on o.workspace_id = of_workspace and o.group_id = m.group_id
    inner join principal as p on p.principal_id = o.member_id
    where
        m.workspace_id = of_workspace
        and m.member_id = who
        and o.member_id <> who
        -- a user
        and p.kind = 0;
end
$$;

-- The same about one owner.
create function relation_to(of_workspace uuid, who uuid, to_owner uuid) returns smallint
language plpgsql stable set search_path = loci, pg_temp
as $$
begin
    return case
        when
            exists (
                select 1
                from membership as m
                where
                    m.workspace_id = of_workspace
                    and m.group_id = to_owner
                    and m.member_id = who
            )
            then 0
        when
            who <> to_owner
            and exists (
                select 1 from principal as p where p.principal_id = to_owner and p.kind = 0
            )
            and exists (
                select 1
                from membership as m
                inner join membership as o
                    on o.workspace_id = of_workspace and o.group_id = m.group_id
                where
                    m.workspace_id = of_workspace
                    and m.member_id = who
                    and o.member_id = to_owner
            )
            then 1
    end;
end
$$;

revoke execute on function near(uuid, uuid), relation_to(uuid, uuid, uuid) from public;

grant execute on function near(uuid, uuid), relation_to(uuid, uuid, uuid) to loci_app;

-- The same key with what is new of it and of its principal, behind what there was, so that servers of
-- the version before find what they ask for.
drop function key_by_hash(bytea);

create function key_by_hash(hash bytea)
returns table (
    key_id uuid, workspace_id uuid, principal_id uuid, name text, hint text, secret_hash bytea,
    power smallint, stores uuid[], session_id uuid, audience smallint, created_at bigint,
    expires_at bigint, revoked_at bigint, principal_kind smallint, principal_name text,
    is_admin boolean, principal_created_at bigint, page bigint, acts_for_agents boolean,
    principal_memory smallint
)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select
        k.key_id, k.workspace_id, k.principal_id, k.name, k.hint, k.secret_hash, k.power, k.stores,
        k.session_id, k.audience, k.created_at, k.expires_at, k.revoked_at, p.kind, p.name,
        p.is_admin, p.created_at, coalesce(a.page, 0), k.acts_for_agents, p.memory
    from api_key as k
    inner join principal as p on p.principal_id = k.principal_id
    left join access_page as a on a.workspace = k.workspace_id
    where k.secret_hash = hash
$$;

revoke execute on function key_by_hash(bytea) from public;

grant execute on function key_by_hash(bytea) to loci_app;

-- Whether a filter lets a memory through, as before; what is behind the third text are more prefixes,
-- of which any will do.
create or replace function is_wanted(
    m memory, texts text[], kinds text[], parts text[], times bigint[]
) returns boolean
language sql stable
as $$
    select
        texts is null
        or (
            (
                texts[1] is null
                or starts_with(m.path, texts[1])
                or exists (select 1 from unnest(texts[4:]) as t (prefix) where starts_with(m.path, t.prefix))
            )
            and (texts[2] is null or m.source = texts[2])
            and (texts[3] is null or m.scope = texts[3])
            and (cardinality(kinds) = 0 or m.kind = any(kinds))
            and (times[1] is null or m.created_at >= times[1])
            and (times[2] is null or m.created_at <= times[2])
            and (times[3] is null or m.updated_at >= times[3])
            and (times[4] is null or m.updated_at <= times[4])
            and coalesce(m.attributes, '') like all(parts)
        )
$$;
