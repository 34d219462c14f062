-- Searching where the rows lie. The words of each memory are rows; where pgvector is, so are the
-- passages, in one table for each generation of vectors, which is made and dropped with it. All of
-- it belongs to a version, is written with its vectors, and goes when the version loses its text.

-- The words that the newest version of a memory with words is found by. Each begins with a mark of
-- its store, so that a list in the index is of one store and as short as can be.
create table word (
    store_id uuid not null,
    memory_id uuid not null,
    workspace_id uuid not null,
    -- the number of the version
    seq bigint not null,
    terms tsvector not null,
    constraint word_pk primary key (store_id, memory_id)
);

alter table word alter column terms set statistics 0;

create index word_by_term on word using gin (terms) with (fastupdate = off);

alter table word enable row level security;

alter table word force row level security;

create policy tenant on word to loci_app using (
    workspace_id = (select nullif(current_setting('loci.workspace', true), '')::uuid)
);

create policy owner on word to current_user using (true);

grant select, insert, update, delete on word to loci_app;

-- What not everyone may find is counted, so that it is not felt.
create index memory_by_visibility on memory (store_id, visibility)
where visibility > 0 and path is not null;

-- The schema of pgvector, quoted, where it is there and knows how to go on until enough is found.
create function vector_schema() returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
    select quote_ident(n.nspname)
    from pg_extension as e
    inner join pg_namespace as n on n.oid = e.extnamespace
    where
        e.extname = 'vector'
        and string_to_array(substring(e.extversion from '^[0-9]+[.][0-9]+'), '.')::int[]
        >= array[0, 8]
$$;

create function has_passages(of_generation int) returns boolean
language sql stable set search_path = loci, pg_temp
as $$
    select vector_schema() is not null and to_regclass('passage_' || of_generation) is not null
$$;

-- Makes the table of a generation's passages where that is possible. More numbers than these cannot
-- be indexed.
create function open_passages(of_generation int, dims int) returns void
language plpgsql security definer set search_path = loci, pg_temp
as $$
declare
    schema text := vector_schema();
    passages text := 'passage_' || of_generation;
begin
    if schema is null or dims > 4000 then
        return;
    end if;
    execute format(
        'create table %I ('
        'store_id uuid not null, memory_id uuid not null, nth smallint not null,'
        ' workspace_id uuid not null, seq bigint not null, embedding %s.halfvec(%s) not null,'
        ' primary key (store_id, memory_id, nth))',
        passages, schema, dims
    );
    execute format('alter table %I alter column embedding set statistics 0', passages);
    execute format(
        'create index on %I using hnsw (embedding %s.halfvec_cosine_ops)', passages, schema
    );
    execute format('alter table %I enable row level security', passages);
    execute format('alter table %I force row level security', passages);
    execute format(
        'create policy tenant on %I to loci_app using ('
        'workspace_id = (select nullif(current_setting(''loci.workspace'', true), '''')::uuid))',
        passages
    );
    execute format('create policy owner on %I to current_user using (true)', passages);
    execute format('grant select, insert, update, delete on %I to loci_app', passages);
end
$$;

create function close_passages(of_generation int) returns void
language plpgsql security definer set search_path = loci, pg_temp
as $$
begin
    execute format('drop table if exists %I', 'passage_' || of_generation);
end
$$;

-- Replaces the passages of memories by those of newer versions. Who puts some for the same store at
-- the same time waits, so that those of two versions are never mixed.
create function put_passages(
    of_generation int, of_workspace uuid, of_store uuid, memories uuid[], seqs bigint[],
    nths smallint[], embeddings text[]
) returns void
language plpgsql set search_path = loci, pg_temp
as $$
declare
    passages text := 'passage_' || of_generation;
begin
    perform pg_advisory_xact_lock(of_generation, hashtext(of_store::text));
    execute format(
        'delete from %I as p'
        ' using (select distinct * from unnest($2, $3)) as w (memory_id, seq)'
        ' where p.store_id = $1 and p.memory_id = w.memory_id and p.seq <= w.seq',
        passages
    )
    using of_store, memories, seqs;
    execute format(
        'insert into %1$I (store_id, memory_id, nth, workspace_id, seq, embedding)'
        ' select $1, w.memory_id, w.nth, $2, w.seq, w.embedding::%2$s.halfvec'
        ' from unnest($3, $4, $5, $6) as w (memory_id, seq, nth, embedding)'
        ' where not exists ('
        'select 1 from %1$I as p where p.store_id = $1 and p.memory_id = w.memory_id)',
        passages, vector_schema()
    )
    using of_store, of_workspace, memories, seqs, nths, embeddings;
end
$$;

-- Hands passages on to versions with the same text; tells which versions got them.
create function pass_on_passages(
    of_generation int, of_store uuid, memories uuid[], old_seqs bigint[], new_seqs bigint[]
) returns setof bigint
language plpgsql set search_path = loci, pg_temp
as $$
begin
    perform pg_advisory_xact_lock(of_generation, hashtext(of_store::text));
    return query execute format(
        'with moved as ('
        'update %I as p set seq = w.new_seq'
        ' from unnest($2, $3, $4) as w (memory_id, old_seq, new_seq)'
        ' where p.store_id = $1 and p.memory_id = w.memory_id and p.seq = w.old_seq'
        ' returning w.new_seq)'
        ' select distinct new_seq from moved',
        'passage_' || of_generation
    )
    using of_store, memories, old_seqs, new_seqs;
end
$$;

-- Drops the words and passages of versions that lose their text.
create function forget_versions(of_store uuid, seqs bigint[]) returns void
language plpgsql set search_path = loci, pg_temp
as $$
declare
    known int;
begin
    delete from word as w
    using version as v
    where
        v.store_id = of_store
        and v.seq = any(seqs)
        and w.store_id = v.store_id
        and w.memory_id = v.memory_id
        and w.seq = v.seq;
    for known in select generation from generation loop
        if to_regclass('passage_' || known) is not null then
            execute format(
                'delete from %I as p using version as v'
                ' where v.store_id = $1 and v.seq = any($2) and p.store_id = v.store_id'
                ' and p.memory_id = v.memory_id and p.seq = v.seq',
                'passage_' || known
            )
            using of_store, seqs;
        end if;
    end loop;
end
$$;

-- Drops the words and passages of memories, or all of a store.
create function forget_memories(of_store uuid, memories uuid[]) returns void
language plpgsql set search_path = loci, pg_temp
as $$
declare
    known int;
begin
    delete from word
    where store_id = of_store and (memories is null or memory_id = any(memories));
    for known in select generation from generation loop
        if to_regclass('passage_' || known) is not null then
            execute format(
                'delete from %I'
                ' where store_id = $1 and ($2 is null or memory_id = any($2))',
                'passage_' || known
            )
            using of_store, memories;
        end if;
    end loop;
end
$$;

-- In how many memories that can be found each of some words is, as far as it is counted. The index
-- of words is closed to whoever is held to one tenant's rows, because comparing words could tell
-- something; so this and the next look as the owner, at the rows of the transaction's tenant.
create function count_holding(
    of_store uuid, queries text[], shown_to smallint, moment bigint, at_most bigint
) returns table (place bigint, held bigint)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select
        q.n,
        (
            select count(*)
            from (
                select 1
                from word as w
                inner join memory as m on m.store_id = w.store_id and m.memory_id = w.memory_id
                where
                    w.terms @@ q.query::tsquery
                    and w.store_id = of_store
                    and w.workspace_id = (
                        select nullif(current_setting('loci.workspace', true), '')::uuid
                    )
                    and m.workspace_id = w.workspace_id
                    and m.path is not null
                    and m.visibility <= shown_to
                    and (m.expires_at is null or m.expires_at > moment)
                    and not m.is_sealed
                limit at_most
            ) as held
        )
    from unnest(queries) with ordinality as q (query, n)
$$;

-- The memories that hold the most of some words, by the words' weights.
create function most_holding(
    of_store uuid, queries text[], weights real[], shown_to smallint, moment bigint,
    each_at_most bigint, at_most bigint
) returns table (memory_id uuid, weight real)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select h.memory_id, sum(q.weight)
    from unnest(queries, weights) as q (query, weight)
    cross join lateral (
        select m.memory_id
        from word as w
        inner join memory as m on m.store_id = w.store_id and m.memory_id = w.memory_id
        where
            w.terms @@ q.query::tsquery
            and w.store_id = of_store
            and w.workspace_id = (
                select nullif(current_setting('loci.workspace', true), '')::uuid
            )
            and m.workspace_id = w.workspace_id
            and m.path is not null
            and m.visibility <= shown_to
            and (m.expires_at is null or m.expires_at > moment)
            and not m.is_sealed
        limit each_at_most
    ) as h
    group by h.memory_id
    order by sum(q.weight) desc, h.memory_id
    limit at_most
$$;

-- The memories whose passages are most similar to a query. A small store is compared whole. In a
-- large one the index goes on until enough of what the reader may find came by; a subquery in the
-- condition keeps it from being turned into a join, which would read everything.
create function nearest_passages(
    of_generation int, of_store uuid, query text, shown_to smallint, moment bigint, at_most bigint,
    is_small boolean
) returns table (memory_id uuid, distance double precision)
language plpgsql stable set search_path = loci, pg_temp
as $$
declare
    passages text := 'passage_' || of_generation;
    schema text := vector_schema();
begin
    if is_small then
        return query execute format(
            'with compared as materialized ('
            'select p.memory_id, p.embedding operator(%2$s.<=>) $2::%2$s.halfvec as distance'
            ' from %1$I as p'
            ' inner join memory as m on m.store_id = p.store_id and m.memory_id = p.memory_id'
            ' where p.store_id = $1 and m.head = p.seq and m.path is not null'
            ' and m.visibility <= $3 and (m.expires_at is null or m.expires_at > $4))'
            ' select c.memory_id, min(c.distance) from compared as c'
            ' group by c.memory_id order by min(c.distance), c.memory_id limit $5',
            passages, schema
        )
        using of_store, query, shown_to, moment, at_most;
        return;
    end if;
    perform
        set_config('hnsw.ef_search', '200', true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.max_scan_tuples', '100000', true);
    return query execute format(
        'with near as materialized ('
        'select p.memory_id, p.embedding operator(%2$s.<=>) $2::%2$s.halfvec as distance'
        ' from %1$I as p'
        ' where p.store_id = $1 and ('
        'select m.head = p.seq and m.path is not null and m.visibility <= $3'
        ' and (m.expires_at is null or m.expires_at > $4)'
        ' from memory as m where m.store_id = p.store_id and m.memory_id = p.memory_id)'
        ' order by p.embedding operator(%2$s.<=>) $2::%2$s.halfvec limit $5)'
        ' select n.memory_id, min(n.distance) from near as n'
        ' group by n.memory_id order by min(n.distance), n.memory_id',
        passages, schema
    )
    using of_store, query, shown_to, moment, at_most;
end
$$;

do $$
declare
    closed text;
begin
    foreach closed in array array[
        'open_passages(int, int)', 'close_passages(int)',
        'count_holding(uuid, text[], smallint, bigint, bigint)',
        'most_holding(uuid, text[], real[], smallint, bigint, bigint, bigint)'
    ]
    loop
        execute format('revoke execute on function %s from public', closed);
        execute format('grant execute on function %s to loci_app', closed);
    end loop;
end
$$;
