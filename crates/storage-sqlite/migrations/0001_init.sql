-- The whole of Loci in one file: tenants and their keys, stores, memories with their history, the
-- feed, sharing, sessions, and the word index.
--
-- Public ids are 16-byte blobs. Stores, memories and versions also have an integer key, because
-- every hot row points at them. Times are microseconds since 1970. Whoever wrote something is an
-- actor: a kind and, except for Loci itself, an id.

create table workspace (
    workspace_id blob not null constraint workspace_pk primary key,
    created_at integer not null
) without rowid;

create table principal (
    principal_id blob not null constraint principal_pk primary key,
    workspace_id blob not null,
    kind integer not null,
    name text not null,
    is_admin integer not null,
    created_at integer not null,
    constraint principal_name_unique unique (workspace_id, name)
) without rowid;

-- A key is known by the hash of its secret; the secret itself is never here.
create table api_key (
    key_id blob not null constraint api_key_pk primary key,
    workspace_id blob not null,
    principal_id blob not null,
    name text not null,
    hint text not null,
    secret_hash blob not null constraint api_key_secret_unique unique,
    -- 0 search, 1 read, 2 read and write, 3 everything its principal may do
    power integer not null,
    -- the stores it is limited to, as 16-byte ids one after the other; null is no limit
    stores blob,
    session_id blob,
    audience integer not null,
    created_at integer not null,
    expires_at integer,
    revoked_at integer
) without rowid;

create index api_key_by_session on api_key (session_id) where session_id is not null;

-- The counters at the end are kept in the transaction that changes what they count: seq and last_at
-- are the newest number and time of the feed, memory_count and content_bytes count live memories.
create table store (
    store integer constraint store_pk primary key,
    store_id blob not null constraint store_id_unique unique,
    workspace_id blob not null,
    owner blob not null,
    name text not null,
    description text not null,
    metadata text not null,
    partitioning integer not null,
    remove_by integer not null,
    share_by integer not null,
    -- seconds until the history of a removed memory is erased; null keeps it
    erase_after_secs integer,
    content_bytes_max integer not null,
    memories_max integer not null,
    created_at integer not null,
    updated_at integer not null,
    archived_at integer,
    -- hidden since; its rows are being purged
    removed_at integer,
    seq integer not null default 0,
    last_at integer,
    memory_count integer not null default 0,
    content_bytes integer not null default 0,
    version_count integer not null default 0
);

create index store_by_created on store (workspace_id, created_at, store_id)
where removed_at is null;

create index store_unpurged on store (store) where removed_at is not null;

-- A memory is live exactly while it has a path. The row of a removed memory stays, bare, for its
-- history to hang on.
create table memory (
    memory integer constraint memory_pk primary key,
    store integer not null constraint memory_store_fk references store (store),
    memory_id blob not null,
    -- whose partition; empty is none
    partition blob not null,
    owner blob not null,
    path text,
    kind text,
    tags text,
    importance integer,
    pinned integer not null,
    visibility integer not null,
    expires_at integer,
    source text,
    scope text,
    summary text,
    media_type text,
    metadata text,
    -- the newest version; no foreign key, because each is written before the other
    head integer not null,
    revision integer not null,
    digest blob,
    size_bytes integer,
    is_sealed integer not null,
    created_at integer not null,
    updated_at integer not null,
    -- when the history of this removed memory is due to be erased
    erase_at integer,
    constraint memory_id_unique unique (store, memory_id)
);

create unique index memory_path_unique on memory (store, path, partition)
where path is not null;

create index memory_by_created on memory (store, created_at, memory_id)
where path is not null;

create index memory_by_updated on memory (store, updated_at, memory_id)
where path is not null;

create index memory_by_expiry on memory (expires_at)
where expires_at is not null and path is not null;

create index memory_by_erasure on memory (erase_at) where erase_at is not null;

-- History: never changed, except that a redaction takes away path, attributes, digest and size.
create table version (
    version integer constraint version_pk primary key,
    version_id blob not null constraint version_id_unique unique,
    memory integer not null constraint version_memory_fk references memory (memory),
    revision integer not null,
    seq integer not null,
    -- 0 created, 1 modified, 2 deleted
    op integer not null,
    path text,
    -- a JSON object of those that are not at their default; null when all are, and when redacted
    attributes text,
    visibility integer not null,
    digest blob,
    size_bytes integer,
    is_sealed integer not null,
    actor_kind integer not null,
    actor_id blob,
    created_at integer not null,
    request text,
    reason text not null,
    -- 16-byte version ids one after the other
    derived_from blob,
    redacted_at integer,
    redacted_kind integer,
    redacted_id blob,
    constraint version_revision_unique unique (memory, revision)
);

-- Content, apart from its version so that scrubbing it is deleting a row. A version has a payload
-- exactly when it has a digest.
create table payload (
    version integer constraint payload_pk primary key
        constraint payload_version_fk references version (version),
    content blob not null
);

-- The feed of a store: 1, 2, 3 … without gaps, times strictly increasing. A redaction is the only
-- entry that is not a version's own. No foreign key to version: purging would scan for it.
create table change (
    store integer not null constraint change_store_fk references store (store),
    seq integer not null,
    -- as version.op, and 3 redacted
    op integer not null,
    version integer not null,
    actor_kind integer not null,
    actor_id blob,
    at integer not null,
    reason text not null,
    constraint change_pk primary key (store, seq)
) without rowid;

create table grant_ (
    store integer not null constraint grant_store_fk references store (store),
    -- a principal's id; empty is everyone in the workspace
    grantee blob not null,
    grant_id blob not null constraint grant_id_unique unique,
    level integer not null,
    given_by blob not null,
    expires_at integer,
    created_at integer not null,
    constraint grant_pk primary key (store, grantee)
) without rowid;

create table session (
    session_id blob not null constraint session_pk primary key,
    workspace_id blob not null,
    owner blob not null,
    title text,
    metadata text not null,
    agent_id text not null,
    agent_version integer not null,
    details text not null,
    created_at integer not null,
    updated_at integer not null,
    archived_at integer
) without rowid;

create index session_by_created on session (workspace_id, created_at, session_id);

-- What a session shows of a store is a snapshot, so it names the store by its public id and
-- outlives it.
create table attachment (
    session_id blob not null constraint attachment_session_fk references session (session_id),
    position integer not null,
    store_id blob not null,
    access integer not null,
    instructions text,
    name text not null,
    description text not null,
    mount_path text not null,
    constraint attachment_pk primary key (session_id, position)
) without rowid;

-- What retried requests did the first time. Only ids, never content: what is shown again is read
-- again, so that a redaction reaches here too.
create table idempotency (
    scope blob not null,
    key text not null,
    fingerprint blob not null,
    kind integer not null,
    refs blob not null,
    at integer not null,
    constraint idempotency_pk primary key (scope, key)
) without rowid;

create index idempotency_by_time on idempotency (at);

-- A live memory as readers see it. `src/row.rs` reads these columns by position, as it does those
-- of the next view.
create view live_memory as
select
    m.memory, m.head, m.memory_id, m.partition, m.owner, m.path, m.kind, m.tags, m.importance,
    m.pinned, m.visibility, m.expires_at, m.source, m.scope, m.summary, m.media_type, m.metadata,
    v.version_id, m.revision, m.digest, m.size_bytes, m.is_sealed, m.created_at, m.updated_at,
    m.store
from memory as m cross join version as v on v.version = m.head
where m.path is not null;

-- A version with what its memory adds.
create view known_version as
select
    v.version, v.memory, v.version_id, m.memory_id, v.revision, v.seq, v.op, v.path, v.attributes,
    v.digest, v.size_bytes, v.actor_kind, v.actor_id, v.created_at, v.request, v.reason,
    v.derived_from, v.redacted_at, v.redacted_kind, v.redacted_id, v.is_sealed, v.visibility,
    m.store, m.visibility as memory_visibility, m.owner, m.partition,
    m.created_at as memory_created_at
from version as v cross join memory as m on m.memory = v.memory;

-- The words of live text memories. Its row id is the memory's; the store column holds the word `s`
-- and the store's key, so that every search is bound to its stores inside the index. It keeps no
-- text of its own, and a deleted word leaves no trace.
create virtual table memory_fts using fts5 (
    store, path, tags, content,
    content = '', tokenize = "unicode61 remove_diacritics 2"
);

insert into memory_fts (memory_fts, rank) values ('secure-delete', 1);

-- Twice the default number of pieces before they are merged: a write to a large index then rewrites
-- about a third less of it, for a few more places that a search has to look at.
insert into memory_fts (memory_fts, rank) values ('automerge', 8);
