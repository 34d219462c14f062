-- What costly readers, such as models, found in memories: too expensive to find twice, so it is kept
-- as vectors are.

-- What one reader found in one memory. It was read from a version and exists only while that has its
-- text; it counts while the memory's content is that of this version.
create table reading (
    reading integer constraint reading_pk primary key,
    memory integer not null constraint reading_memory_fk references memory (memory),
    reader text not null,
    version integer not null constraint reading_version_fk references version (version),
    store integer not null constraint reading_store_fk references store (store),
    -- counts what was put and forgotten in the store, so that what is new is found
    number integer not null,
    read_at integer not null,
    claims text not null,
    constraint reading_unique unique (memory, reader)
);

create unique index reading_by_number on reading (store, number);

create index reading_by_version on reading (version);

create index reading_by_reader on reading (reader, store);

-- Up to which number of a store's feed a reader has read, and what that cost on the last day that it
-- read anything.
create table reading_mark (
    store integer not null constraint reading_mark_store_fk references store (store),
    reader text not null,
    through integer not null,
    day integer not null,
    requests integer not null,
    tokens integer not null,
    constraint reading_mark_pk primary key (store, reader)
) without rowid;

create index reading_mark_by_day on reading_mark (reader, day);

-- The last number given to a store's readings, and the one at which some were forgotten.
create table reading_end (
    store integer constraint reading_end_pk primary key
    constraint reading_end_store_fk references store (store),
    number integer not null,
    forgotten integer not null
);
