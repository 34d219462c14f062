-- The whole of Loci in one schema: tenants and their keys, stores, memories with their history, the
-- feed, sharing, sessions and vectors.
--
-- Public ids are uuids. Times are microseconds since 1970. Whoever wrote something is an actor: a
-- kind and, except for Loci itself, an id. Free text that may hold a zero character, which
-- PostgreSQL refuses, is escaped on the way in.
--
-- Every key of what is inside a store holds the store, so that rows of one store can be kept
-- together, on one node of many if need be. Everything a tenant owns names its workspace, and row
-- security compares it with the workspace that the transaction was opened for. There are no foreign
-- keys on the rows of memories: there is one write path, it holds the lock of the store, and the
-- check looks for strays.

create table workspace (
    workspace_id uuid not null constraint workspace_pk primary key,
    created_at bigint not null
);

create table principal (
    principal_id uuid not null constraint principal_pk primary key,
    workspace_id uuid not null,
    kind smallint not null,
    name text collate "C" not null,
    is_admin boolean not null,
    created_at bigint not null,
    constraint principal_name_unique unique (workspace_id, name)
);

-- A key is known by the hash of its secret; the secret itself is never here.
create table api_key (
    key_id uuid not null constraint api_key_pk primary key,
    workspace_id uuid not null,
    principal_id uuid not null,
    name text not null,
    hint text not null,
    secret_hash bytea not null constraint api_key_secret_unique unique,
    -- 0 search, 1 read, 2 read and write, 3 everything its principal may do
    power smallint not null,
    -- the stores it is limited to; null is no limit
    stores uuid[],
    session_id uuid,
    audience smallint not null,
    created_at bigint not null,
    expires_at bigint,
    revoked_at bigint
);

create index api_key_by_workspace on api_key (workspace_id, created_at, key_id);

create index api_key_by_session on api_key (session_id) where session_id is not null;

-- A page is turned by whatever changes keys, principals, or what policy knows about the stores of a
-- workspace, in the same transaction. What servers keep of these in memory counts only on the page
-- that it was read on. Pages are drawn and not counted, so that one does not come back when the
-- database is set back to an earlier state under running servers.
-- They are Loci's own and tell nobody anything, so they are not locked up with the tenant's rows.
create table access_page (
    workspace uuid not null constraint access_page_pk primary key,
    page bigint not null
)
with (fillfactor = 50);

-- The row of a store is its lock: whoever writes to the store holds it until the commit, so feed
-- numbers have no gaps and preconditions are decided here. The counters at the end are kept in the
-- transaction that changes what they count: seq and last_at are the newest number and time of the
-- feed, memory_count and content_bytes count live memories.
create table store (
    store_id uuid not null constraint store_pk primary key,
    workspace_id uuid not null,
    owner uuid not null,
    name text not null,
    description text not null,
    metadata text not null,
    partitioning boolean not null,
    remove_by boolean not null,
    share_by boolean not null,
    -- seconds until the history of a removed memory is erased; null keeps it
    erase_after_secs bigint,
    content_bytes_max bigint not null,
    memories_max bigint not null,
    repeats smallint not null,
    created_at bigint not null,
    updated_at bigint not null,
    archived_at bigint,
    -- hidden since; its rows are being purged
    removed_at bigint,
    seq bigint not null default 0,
    last_at bigint,
    memory_count bigint not null default 0,
    content_bytes bigint not null default 0,
    version_count bigint not null default 0
)
-- Room for the counters to change in place.
with (fillfactor = 50);

create index store_by_created on store (workspace_id, created_at, store_id)
where removed_at is null;

create index store_by_owner on store (owner) where removed_at is null;

create index store_unpurged on store (store_id) where removed_at is not null;

-- A memory is live exactly while it has a path. The row of a removed memory stays, bare, for its
-- history to hang on. What listings filter by has its own column; the rest is in attributes.
create table memory (
    store_id uuid not null,
    memory_id uuid not null,
    workspace_id uuid not null,
    -- whose partition; all zeros is none
    partition uuid not null,
    owner uuid not null,
    path text collate "C",
    kind text collate "C",
    source text collate "C",
    scope text collate "C",
    visibility smallint not null,
    expires_at bigint,
    -- a JSON object of those that are not at their default; null when all are
    attributes text,
    -- number, id and kind of the newest version
    head bigint not null,
    head_id uuid not null,
    op smallint not null,
    revision bigint not null,
    digest bytea,
    size_bytes bigint,
    is_sealed boolean not null,
    created_at bigint not null,
    updated_at bigint not null,
    -- when the history of this removed memory is due to be erased
    erase_at bigint,
    -- the digest of a live text memory, where the store minds repeats
    repeat_digest bytea,
    constraint memory_pk primary key (store_id, memory_id)
);

create unique index memory_path_unique on memory (store_id, path, partition)
where path is not null;

create index memory_by_created on memory (store_id, created_at, memory_id)
where path is not null;

create index memory_by_updated on memory (store_id, updated_at, memory_id)
where path is not null;

create index memory_by_expiry on memory (expires_at)
where expires_at is not null and path is not null;

create index memory_by_erasure on memory (erase_at) where erase_at is not null;

create index memory_by_repeat on memory (store_id, repeat_digest)
where repeat_digest is not null;

-- History: never changed, except that a redaction takes away path, attributes, digest and size. Its
-- number in the feed is its key.
create table version (
    store_id uuid not null,
    seq bigint not null,
    workspace_id uuid not null,
    version_id uuid not null,
    memory_id uuid not null,
    revision bigint not null,
    -- 0 created, 1 modified, 2 deleted
    op smallint not null,
    path text collate "C",
    -- as in memory; null when redacted, too
    attributes text,
    visibility smallint not null,
    digest bytea,
    size_bytes bigint,
    is_sealed boolean not null,
    actor_kind smallint not null,
    actor_id uuid,
    created_at bigint not null,
    request text,
    reason text not null,
    -- 16-byte version ids one after the other
    derived_from bytea,
    redacted_at bigint,
    redacted_kind smallint,
    redacted_id uuid,
    constraint version_pk primary key (store_id, seq),
    -- the id first: it is looked for in all stores when history comes in from elsewhere
    constraint version_id_unique unique (version_id, store_id),
    constraint version_revision_unique unique (store_id, memory_id, revision)
);

-- Content, apart from its version so that scrubbing it is deleting a row. A version has a payload
-- exactly when it has a digest.
create table payload (
    store_id uuid not null,
    seq bigint not null,
    workspace_id uuid not null,
    content bytea not null,
    constraint payload_pk primary key (store_id, seq)
);

-- The only entries of the feed that are not a version's own.
create table redaction (
    store_id uuid not null,
    seq bigint not null,
    workspace_id uuid not null,
    -- the number of the version that was redacted
    version_seq bigint not null,
    actor_kind smallint not null,
    actor_id uuid,
    at bigint not null,
    reason text not null,
    constraint redaction_pk primary key (store_id, seq)
);

create table grant_ (
    store_id uuid not null,
    -- a principal's id; all zeros is everyone in the workspace
    grantee uuid not null,
    workspace_id uuid not null,
    grant_id uuid not null,
    level smallint not null,
    given_by uuid not null,
    expires_at bigint,
    created_at bigint not null,
    constraint grant_pk primary key (store_id, grantee),
    constraint grant_id_unique unique (store_id, grant_id)
);

create index grant_by_grantee on grant_ (workspace_id, grantee);

create table session (
    session_id uuid not null constraint session_pk primary key,
    workspace_id uuid not null,
    owner uuid not null,
    title text,
    metadata text not null,
    agent_id text not null,
    agent_version bigint not null,
    details text not null,
    created_at bigint not null,
    updated_at bigint not null,
    archived_at bigint
);

create index session_by_created on session (workspace_id, created_at, session_id);

-- What a session shows of a store is a snapshot, so it outlives the store.
create table attachment (
    session_id uuid not null constraint attachment_session_fk references session (session_id),
    position int not null,
    workspace_id uuid not null,
    store_id uuid not null,
    access smallint not null,
    instructions text,
    name text not null,
    description text not null,
    mount_path text not null,
    constraint attachment_pk primary key (session_id, position)
);

-- What retried requests did the first time. Only ids, never content: what is shown again is read
-- again, so that a redaction reaches here too.
create table idempotency (
    workspace_id uuid not null,
    scope uuid not null,
    key text collate "C" not null,
    fingerprint bytea not null,
    kind smallint not null,
    refs bytea not null,
    at bigint not null,
    constraint idempotency_pk primary key (workspace_id, scope, key)
);

create index idempotency_by_time on idempotency (at);

-- Vectors made by one model in one go, for all tenants.
create table generation (
    generation int not null constraint generation_pk primary key,
    model text not null,
    dims int not null,
    created_at bigint not null
);

-- The newest number ever given to a generation: one is never given twice, because whoever still
-- holds vectors of an old generation must not take them for those of a new one.
create table last_generation (
    is_only boolean not null default true
        constraint last_generation_pk primary key constraint last_generation_one check (is_only),
    generation int not null
);

insert into last_generation (generation) values (0);

-- All vectors of one version in one generation: half-precision little-endian numbers, one vector
-- after the other, one for each passage. Exists only for versions that still have their text.
create table vector (
    store_id uuid not null,
    generation int not null,
    seq bigint not null,
    workspace_id uuid not null,
    passages bytea not null,
    constraint vector_pk primary key (store_id, generation, seq)
);

-- For dropping a generation. Written so that no other statement can take it for its own: each of them
-- names a generation, and nearly all vectors are of the same one.
create index vector_by_generation on vector ((generation + 0));

-- Up to which number of a store's feed a generation has vectors for what changed.
create table vector_mark (
    store_id uuid not null,
    generation int not null,
    workspace_id uuid not null,
    through bigint not null,
    constraint vector_mark_pk primary key (store_id, generation)
);

-- Who does a piece of work that one server is enough for, and until when it is theirs.
create table lease (
    name text collate "C" not null constraint lease_pk primary key,
    holder uuid not null,
    until timestamptz not null
);

-- PostgreSQL samples columns to plan by, and samples outlive the rows they were taken from. What can
-- be redacted is not sampled; plans do without it, because statements are held to their indexes.
alter table memory
alter column path set statistics 0,
alter column kind set statistics 0,
alter column source set statistics 0,
alter column scope set statistics 0,
alter column attributes set statistics 0,
alter column digest set statistics 0,
alter column repeat_digest set statistics 0;

alter table version
alter column path set statistics 0,
alter column attributes set statistics 0,
alter column digest set statistics 0;

alter table payload alter column content set statistics 0;

alter table vector alter column passages set statistics 0;

-- What a plan may build on. Statements are planned once for all stores, so the planner has to think of
-- a large one: that a store, and a workspace all the more, is most of a table. Then a row is looked for
-- by its whole key and never among all rows of its store.
alter table memory
alter column store_id set (n_distinct = 2), alter column workspace_id set (n_distinct = 1);

alter table version
alter column store_id set (n_distinct = 2), alter column workspace_id set (n_distinct = 1);

alter table payload
alter column store_id set (n_distinct = 2), alter column workspace_id set (n_distinct = 1);

alter table redaction
alter column store_id set (n_distinct = 2), alter column workspace_id set (n_distinct = 1);

alter table vector
alter column store_id set (n_distinct = 2), alter column workspace_id set (n_distinct = 1);

-- The feed of a store: 1, 2, 3 … without gaps, times strictly increasing.
create view change with (security_invoker = true) as
select
    store_id, seq, op, seq as version_seq, actor_kind, actor_id, created_at as at, reason
from version
union all
select store_id, seq, 3::smallint, version_seq, actor_kind, actor_id, at, reason
from redaction;

-- A live memory as readers see it. `src/row.rs` reads these columns by position, as it does those
-- of the next view.
create view live_memory with (security_invoker = true) as
select
    memory_id, partition, owner, path, attributes, head_id, revision, digest, size_bytes,
    is_sealed, created_at, updated_at, head, store_id, visibility, expires_at, kind, source, scope
from memory
where path is not null;

-- A version with what its memory adds.
create view known_version with (security_invoker = true) as
select
    v.version_id, v.memory_id, v.revision, v.seq, v.op, v.path, v.attributes, v.digest,
    v.size_bytes, v.actor_kind, v.actor_id, v.created_at, v.request, v.reason, v.derived_from,
    v.redacted_at, v.redacted_kind, v.redacted_id, v.is_sealed, m.owner, m.partition,
    m.created_at as memory_created_at, v.store_id, v.visibility,
    m.visibility as memory_visibility
from version as v
inner join memory as m on m.store_id = v.store_id and m.memory_id = v.memory_id;
