-- Words leave the database, vectors enter it.
--
-- An index of everybody's words ranks by how often a word occurs in memories that the reader may
-- not get, and every write paid for keeping it. Words are now indexed in memory, for one audience
-- of one store at a time, from the texts themselves. Vectors cost too much to make twice, so they
-- are rows.

drop table memory_fts;

-- What becomes of a new memory whose content the store has already: 0 it is kept, 1 it is refused,
-- 2 it is merged.
alter table store add column repeats integer not null default 0;

-- The digest of a live text memory, where the store minds repeats; so that other stores pay nothing
-- for the index.
alter table memory add column repeat_digest blob;

create index memory_by_repeat on memory (store, repeat_digest) where repeat_digest is not null;

-- For the question which stores somebody can reach at all.
create index store_by_owner on store (owner) where removed_at is null;

create index grant_by_grantee on grant_ (grantee);

-- Vectors made by one model in one go. A number is never given twice: whoever still holds vectors
-- of an old generation must not take them for those of a new one.
create table generation (
    generation integer constraint generation_pk primary key autoincrement,
    model text not null,
    dims integer not null,
    created_at integer not null
);

-- All vectors of one version in one generation: half-precision little-endian numbers, one vector
-- after the other, one for each passage. The key is generation * 2^40 + version, so that a
-- generation lies together in the order in which its texts were written, new rows go to its end,
-- and those of a version are found without another index. Exists only for versions that still have
-- their text.
create table vector (
    vector integer constraint vector_pk primary key,
    passages blob not null
);

-- Up to which number of a store's feed a generation has vectors for what changed.
create table vector_mark (
    store integer not null constraint vector_mark_store_fk references store (store),
    generation integer not null,
    through integer not null,
    constraint vector_mark_pk primary key (store, generation)
) without rowid;
