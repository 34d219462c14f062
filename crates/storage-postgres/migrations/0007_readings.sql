-- What costly readers, such as models, found in memories: too expensive to find twice, so it is kept
-- as vectors are.

-- What one reader found in one memory. It was read from a version and exists only while that has its
-- text; it counts while the memory's content is that of this version.
create table reading (
    store_id uuid not null,
    memory_id uuid not null,
    reader text collate "C" not null,
    workspace_id uuid not null,
    -- the number of the version that was read
    seq bigint not null,
    -- counts what was put and forgotten in the store, so that what is new is found
    number bigint not null,
    read_at bigint not null,
    claims text not null,
    constraint reading_pk primary key (store_id, memory_id, reader)
);

create unique index reading_by_number on reading (store_id, number);

create index reading_by_version on reading (store_id, seq);

create index reading_by_reader on reading (workspace_id, reader, store_id);

-- It quotes what can be redacted, so it is not sampled.
alter table reading alter column claims set statistics 0;

alter table reading
alter column store_id set (n_distinct = 2), alter column workspace_id set (n_distinct = 1);

-- Up to which number of a store's feed a reader has read, and what that cost on the last day that it
-- read anything.
create table reading_mark (
    store_id uuid not null,
    reader text collate "C" not null,
    workspace_id uuid not null,
    through bigint not null,
    day bigint not null,
    requests bigint not null,
    tokens bigint not null,
    constraint reading_mark_pk primary key (store_id, reader)
);

create index reading_mark_by_day on reading_mark (reader, day);

-- The last number given to a store's readings, and the one at which some were forgotten.
create table reading_end (
    store_id uuid not null constraint reading_end_pk primary key,
    workspace_id uuid not null,
    number bigint not null,
    forgotten bigint not null
);

do $$
declare
    tenants_table text;
begin
    foreach tenants_table in array array['reading', 'reading_mark', 'reading_end']
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
        execute format('grant select, insert, update, delete on %I to loci_app', tenants_table);
    end loop;
end
$$;

create function unread_stores(by_reader text, among uuid[], at_most bigint)
returns table (workspace_id uuid, store_id uuid, through bigint)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select s.workspace_id, s.store_id, coalesce(m.through, 0)
    from store as s
    left join reading_mark as m on m.store_id = s.store_id and m.reader = by_reader
    where
        s.removed_at is null
        and s.seq > coalesce(m.through, 0)
        and (among is null or s.store_id = any(among))
    order by s.seq - coalesce(m.through, 0), s.store_id
    limit at_most
$$;

create function reading_cost(by_reader text, on_day bigint)
returns table (requests bigint, tokens bigint)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select coalesce(sum(m.requests), 0)::bigint, coalesce(sum(m.tokens), 0)::bigint
    from reading_mark as m
    where m.reader = by_reader and m.day = on_day
$$;

revoke execute on function unread_stores(text, uuid[], bigint) from public;

revoke execute on function reading_cost(text, bigint) from public;

grant execute on function unread_stores(text, uuid[], bigint) to loci_app;

grant execute on function reading_cost(text, bigint) to loci_app;
