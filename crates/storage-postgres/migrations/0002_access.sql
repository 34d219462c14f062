-- The second lock. Servers work as the role loci_app, which owns nothing and cannot step around row
-- security; a transaction sees the rows of the workspace it was opened for and no others, whatever
-- its statements say. Opened for none, it sees none.
--
-- What has to look across tenants (whose key is this, what is due) goes through functions that run
-- as the owner and give out no more than ids, or the one row whose secret was shown.

do $$
declare
    tenants_table text;
begin
    foreach tenants_table in array array[
        'workspace', 'principal', 'api_key', 'store', 'memory', 'version', 'payload', 'redaction',
        'grant_', 'session', 'attachment', 'idempotency', 'vector', 'vector_mark'
    ]
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

-- Updates, because only who may update a row may lock it.
grant select, insert, update, delete on generation to loci_app;

grant select, update on last_generation to loci_app;

grant select, insert, update, delete on lease to loci_app;

grant select, insert, update on access_page to loci_app;

grant select on change, live_memory, known_version, migration to loci_app;

create function key_by_hash(hash bytea)
returns table (
    key_id uuid, workspace_id uuid, principal_id uuid, name text, hint text, secret_hash bytea,
    power smallint, stores uuid[], session_id uuid, audience smallint, created_at bigint,
    expires_at bigint, revoked_at bigint, principal_kind smallint, principal_name text,
    is_admin boolean, principal_created_at bigint, page bigint
)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select
        k.key_id, k.workspace_id, k.principal_id, k.name, k.hint, k.secret_hash, k.power, k.stores,
        k.session_id, k.audience, k.created_at, k.expires_at, k.revoked_at, p.kind, p.name,
        p.is_admin, p.created_at, coalesce(a.page, 0)
    from api_key as k
    inner join principal as p on p.principal_id = k.principal_id
    left join access_page as a on a.workspace = k.workspace_id
    where k.secret_hash = hash
$$;

-- Has the planner look at the tables that grow with memories.
create function look_again() returns void
language plpgsql security definer set search_path = loci, pg_temp
as $$
begin
    analyze (skip_locked) memory, version, payload, redaction, vector, store;
end
$$;

create function workspaces_after(after_at bigint, after_id uuid, at_most bigint)
returns table (workspace_id uuid, created_at bigint)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select w.workspace_id, w.created_at
    from workspace as w
    where (w.created_at, w.workspace_id) > (after_at, after_id)
    order by w.created_at, w.workspace_id
    limit at_most
$$;

create function expired_memories(moment bigint, at_most bigint)
returns table (workspace_id uuid, store_id uuid, memory_id uuid)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select m.workspace_id, m.store_id, m.memory_id
    from memory as m
    inner join store as s on s.store_id = m.store_id
    where
        m.expires_at is not null
        and m.path is not null
        and m.expires_at <= moment
        and s.removed_at is null
    order by m.expires_at, m.created_at, m.memory_id
    limit at_most
$$;

create function erasable_memories(moment bigint, at_most bigint)
returns table (workspace_id uuid, store_id uuid, memory_id uuid)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select m.workspace_id, m.store_id, m.memory_id
    from memory as m
    inner join store as s on s.store_id = m.store_id
    where m.erase_at <= moment and s.removed_at is null
    order by m.erase_at, m.created_at, m.memory_id
    limit at_most
$$;

create function unpurged_stores(at_most bigint)
returns table (workspace_id uuid, store_id uuid)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select s.workspace_id, s.store_id
    from store as s
    where s.removed_at is not null
    order by s.store_id
    limit at_most
$$;

create function lagging_stores(of_generation int, at_most bigint)
returns table (workspace_id uuid, store_id uuid, through bigint, seq bigint)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select s.workspace_id, s.store_id, coalesce(m.through, 0), s.seq
    from store as s
    left join vector_mark as m on m.store_id = s.store_id and m.generation = of_generation
    where s.removed_at is null and s.seq > coalesce(m.through, 0)
    order by s.seq - coalesce(m.through, 0), s.store_id
    limit at_most
$$;

create function forget_idempotency(before bigint) returns bigint
language sql security definer set search_path = loci, pg_temp
as $$
    with gone as (delete from idempotency where at < before returning 1)
    select count(*) from gone
$$;

-- Deletes up to so many rows of a generation's vectors, and at last its marks; tells whether any
-- are left.
create function drop_vectors(of_generation int, at_most bigint) returns boolean
language plpgsql security definer set search_path = loci, pg_temp
as $$
begin
    delete from vector
    where ctid = any(array(
        select v.ctid from vector as v where v.generation + 0 = of_generation limit at_most
    ));
    if exists (select 1 from vector where generation + 0 = of_generation) then
        return true;
    end if;
    delete from vector_mark where generation = of_generation;
    perform close_passages(of_generation);
    return false;
end
$$;

-- Rows of stores that are not there, or not their workspace's: the kind of row and the store that
-- they name. No tenant sees them, so only the check can. Of every table whose rows are in stores;
-- attachments are not, they outlive what they name.
create function strays(at_most bigint) returns table (kind text, store_id uuid)
language plpgsql stable security definer set search_path = loci, pg_temp
as $$
declare
    stores_table name;
begin
    for stores_table in
        select c.relname
        from pg_class as c
        inner join pg_attribute as a on a.attrelid = c.oid and a.attname = 'store_id'
        inner join pg_attribute as w on w.attrelid = c.oid and w.attname = 'workspace_id'
        where
            c.relnamespace = 'loci'::regnamespace
            and c.relkind in ('r', 'p')
            and c.relname not in ('store', 'attachment')
        order by c.relname
    loop
        return query execute format(
            'select distinct %1$L::text, r.store_id from %1$I as r where not exists ('
            'select 1 from store as s '
            'where s.store_id = r.store_id and s.workspace_id = r.workspace_id'
            ') limit $1',
            stores_table
        ) using at_most;
    end loop;
end
$$;

do $$
declare
    crossing text;
begin
    foreach crossing in array array[
        'key_by_hash(bytea)', 'workspaces_after(bigint, uuid, bigint)',
        'expired_memories(bigint, bigint)', 'erasable_memories(bigint, bigint)',
        'unpurged_stores(bigint)', 'lagging_stores(int, bigint)', 'forget_idempotency(bigint)',
        'drop_vectors(int, bigint)', 'strays(bigint)', 'look_again()'
    ]
    loop
        execute format('revoke execute on function %s from public', crossing);
        execute format('grant execute on function %s to loci_app', crossing);
    end loop;
end
$$;
