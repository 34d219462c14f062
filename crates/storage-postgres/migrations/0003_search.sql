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
    -- whose partition, who may find it and until when, as they were when its words were put: enough
    -- for counting; what is given out is looked up in memory first
    partition uuid not null,
    visibility smallint not null,
    expires_at bigint,
    -- its directory and its name, written so that those whom people would count one after the other
    -- follow each other
    place text collate "C" not null,
    -- how many words, at most as many as a piece of a long memory has
    length int not null,
    terms tsvector not null,
    constraint word_pk primary key (store_id, memory_id)
);

alter table word alter column terms set statistics 0;

alter table word alter column place set statistics 0;

create index word_by_term on word using gin (terms) with (fastupdate = off);

create index word_by_place on word (store_id, partition, place);

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

-- Versions that have passages though they have no text, or whose passages are another memory's.
create function stray_passages(stores uuid[], at_most bigint) returns setof uuid
language plpgsql stable set search_path = loci, pg_temp
as $$
declare
    known int;
begin
    for known in select generation from generation order by generation loop
        if to_regclass('passage_' || known) is not null then
            return query execute format(
                'select distinct coalesce(v.version_id, p.memory_id) from %I as p'
                ' left join version as v on v.store_id = p.store_id and v.seq = p.seq'
                ' where p.store_id = any($1) and (v.seq is null or v.memory_id <> p.memory_id'
                ' or v.digest is null or v.is_sealed)'
                ' limit $2',
                'passage_' || known
            )
            using stores, at_most;
        end if;
    end loop;
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

-- Whether a filter lets a memory through, or nearly: what is inside its attributes is only looked for
-- as text, and whoever ranks looks again. The texts are a prefix of its path, a source and a scope,
-- the parts patterns, the times two spans, each null where nothing is asked; no texts are no filter.
create function is_wanted(
    m memory, texts text[], kinds text[], parts text[], times bigint[]
) returns boolean
language sql stable
as $$
    select
        texts is null
        or (
            (texts[1] is null or starts_with(m.path, texts[1]))
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

-- In how many memories each of some words is, as far as it is counted, and the memories that hold
-- the most of them: a word counts for as much as it is rare, and in a short memory for more. A word
-- that was not counted to the end picks out nothing, unless it is taken nevertheless. Rows without a
-- memory are counts.
--
-- The index of words is closed to whoever is held to one tenant's rows, because comparing words
-- could tell something; so this looks as the owner, at the rows of the transaction's tenant.
create function look_up_words(
    of_store uuid, queries text[], total bigint, shown_to smallint, moment bigint,
    counted_max bigint, takes_common boolean, at_most bigint,
    texts text[], kinds text[], parts text[], times bigint[]
) returns table (place bigint, held bigint, memory_id uuid)
language plpgsql stable security definer
set search_path = loci, pg_temp
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    tenant uuid := nullif(current_setting('loci.workspace', true), '')::uuid;
begin
    return query
    with hit as materialized (
        select q.n, h.memory_id, h.length
        from unnest(queries) with ordinality as q (query, n)
        cross join lateral (
            select w.memory_id, w.length
            from word as w
            where
                w.terms @@ q.query::tsquery
                and w.store_id = of_store
                and w.workspace_id = tenant
                and w.visibility <= shown_to
                and (w.expires_at is null or w.expires_at > moment)
            limit counted_max
        ) as h
    ),

    counted as materialized (
        select
            h.n,
            count(*) as held,
            ln(1 + (greatest(total, count(*)) - count(*) + 0.5::float8) / (count(*) + 0.5::float8))
                as weight,
            greatest(avg(h.length::float8), 1) as length
        from hit as h
        group by h.n
    ),

    picked as (
        select h.memory_id
        from hit as h
        inner join counted as c on c.n = h.n and (c.held < counted_max or takes_common)
        where
            texts is null
            or exists (
                select 1
                from memory as m
                where
                    m.store_id = of_store
                    and m.memory_id = h.memory_id
                    and m.workspace_id = tenant
                    and is_wanted(m, texts, kinds, parts, times)
            )
        group by h.memory_id
        order by
            sum(c.weight / (1.3::float8 + 0.9::float8 * h.length / c.length)) desc,
            h.memory_id
        limit at_most
    )

    select c.n, c.held, null::uuid from counted as c
    union all
    select null, null, p.memory_id from picked as p;
end
$$;

-- The memories whose passages are most similar to a query, and some that are least similar: those
-- are nearest to its opposite. Few are compared whole. Among many the index goes on until enough of
-- what the reader may find came by; a subquery in the condition keeps it from being turned into a
-- join, which would read everything.
create function nearest_passages(
    of_generation int, of_store uuid, query text, opposite text, shown_to smallint, moment bigint,
    at_most bigint, far_at_most bigint, total bigint, whole_max bigint,
    texts text[], kinds text[], parts text[], times bigint[]
) returns table (memory_id uuid, is_far boolean)
language plpgsql stable
set search_path = loci, pg_temp
as $$
declare
    passages text := 'passage_' || of_generation;
    schema text := vector_schema();
    rows_in_all double precision;
    part record;
begin
    if schema is null or to_regclass(passages) is null then
        return;
    end if;
    select greatest(c.reltuples, total) into rows_in_all
    from pg_class as c
    where c.oid = to_regclass(passages);
    -- The index is of all stores: the smaller a store's share, the more of others it goes by. A row
    -- that is met there costs as much as some that are compared in a row.
    if total <= whole_max or total < 16 * at_most * (rows_in_all / greatest(total, 1) - 1) then
        return query execute format(
            'with compared as materialized ('
            'select p.memory_id, min(p.embedding operator(%2$s.<=>) $2::%2$s.halfvec) as distance'
            ' from %1$I as p'
            ' inner join memory as m on m.store_id = p.store_id and m.memory_id = p.memory_id'
            ' where p.store_id = $1 and m.head = p.seq and m.path is not null'
            ' and m.visibility <= $3 and (m.expires_at is null or m.expires_at > $4)'
            ' and is_wanted(m, $7, $8, $9, $10)'
            ' group by p.memory_id)'
            ' (select c.memory_id, false from compared as c'
            ' order by c.distance, c.memory_id limit $5)'
            ' union all'
            ' (select c.memory_id, true from compared as c'
            ' order by c.distance desc, c.memory_id limit $6)',
            passages, schema
        )
        using of_store, query, shown_to, moment, at_most, far_at_most, texts, kinds, parts, times;
        return;
    end if;
    perform
        set_config('hnsw.iterative_scan', 'relaxed_order', true),
        set_config('hnsw.max_scan_tuples', '40000', true);
    for part in
        select *
        from (
            values (false, query, at_most), (true, opposite, far_at_most)
        ) as p (is_far, query, wanted)
    loop
        perform set_config('hnsw.ef_search', least(1000, greatest(10, part.wanted))::text, true);
        return query execute format(
            'with near as materialized ('
            'select p.memory_id, p.embedding operator(%2$s.<=>) $2::%2$s.halfvec as distance'
            ' from %1$I as p'
            ' where p.store_id = $1 and ('
            'select m.head = p.seq and m.path is not null and m.visibility <= $3'
            ' and (m.expires_at is null or m.expires_at > $4)'
            ' and is_wanted(m, $6, $7, $8, $9)'
            ' from memory as m where m.store_id = p.store_id and m.memory_id = p.memory_id)'
            ' order by p.embedding operator(%2$s.<=>) $2::%2$s.halfvec limit $5)'
            ' select n.memory_id, $10 from near as n'
            ' group by n.memory_id order by min(n.distance), n.memory_id',
            passages, schema
        )
        using
            of_store, part.query, shown_to, moment, part.wanted, texts, kinds, parts, times,
            part.is_far;
    end loop;
end
$$;

-- Drops the words and passages of memories that were removed or lost their text since the mark of a
-- generation, up to where it is about to be.
create function forget_removed(of_generation int, of_store uuid, through_seq bigint) returns void
language plpgsql set search_path = loci, pg_temp
as $$
declare
    gone uuid[];
begin
    select array_agg(distinct v.memory_id) into gone
    from version as v
    inner join memory as m on m.store_id = v.store_id and m.memory_id = v.memory_id
    where
        v.store_id = of_store
        and v.seq > coalesce(
            (
                select k.through
                from vector_mark as k
                where k.store_id = of_store and k.generation = of_generation
            ),
            0
        )
        and v.seq <= through_seq
        and (v.digest is null or v.is_sealed)
        and (m.path is null or m.is_sealed);
    if gone is null then
        return;
    end if;
    delete from word where store_id = of_store and memory_id = any(gone);
    if has_passages(of_generation) then
        execute format(
            'delete from %I where store_id = $1 and memory_id = any($2)',
            'passage_' || of_generation
        )
        using of_store, gone;
    end if;
end
$$;

do $$
declare
    closed text;
begin
    foreach closed in array array[
        'open_passages(int, int)', 'close_passages(int)',
        'look_up_words(uuid, text[], bigint, smallint, bigint, bigint, boolean, bigint, text[],'
        ' text[], text[], bigint[])'
    ]
    loop
        execute format('revoke execute on function %s from public', closed);
        execute format('grant execute on function %s to loci_app', closed);
    end loop;
end
$$;
