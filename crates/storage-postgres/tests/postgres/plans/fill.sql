-- Fills the store :store with :count memories of one version each, with vectors, words and readings;
-- with one memory of :count redacted versions; and its workspace with the outcomes of :count writes.
-- `check` finds nothing wrong with them.
set search_path to loci;

insert into memory (
    store_id, memory_id, workspace_id, partition, owner, path, visibility, head, head_id, op,
    revision, digest, size_bytes, is_sealed, created_at, updated_at
)
select
    :store, md5('memory ' || n)::uuid, :workspace, '00000000-0000-0000-0000-000000000000', :owner,
    path, 0, n, md5('version ' || n)::uuid, 0, 1, sha256(path::bytea), length(path), false,
    :start + n, :start + n
from generate_series(1, :count) as n
cross join lateral (select '/directory ' || n % 1000 || '/file ' || n as path) as p;

insert into version (
    store_id, seq, workspace_id, version_id, memory_id, revision, op, path, visibility, digest,
    size_bytes, is_sealed, actor_kind, created_at, reason
)
select
    store_id, head, workspace_id, head_id, memory_id, 1, 0, path, 0, digest, size_bytes, false, 4,
    created_at, 'api'
from memory
order by head;

insert into payload (store_id, seq, workspace_id, content)
select store_id, head, workspace_id, path::bytea from memory order by head;

insert into version (
    store_id, seq, workspace_id, version_id, memory_id, revision, op, visibility, is_sealed,
    actor_kind, created_at, reason, redacted_at, redacted_kind
)
select
    :store, :count + n, :workspace, md5('redacted ' || n)::uuid, md5('redacted')::uuid, n,
    case n when 1 then 0 else 1 end, 0, false, 4, :start + :count + n, 'api',
    :start + 2 * :count + n, 4
from generate_series(1, :count) as n;

insert into redaction (store_id, seq, workspace_id, version_seq, actor_kind, at, reason)
select :store, 2 * :count + n, :workspace, :count + n, 4, :start + 2 * :count + n, 'api'
from generate_series(1, :count) as n;

insert into version (
    store_id, seq, workspace_id, version_id, memory_id, revision, op, path, visibility, digest,
    size_bytes, is_sealed, actor_kind, created_at, reason
)
values (
    :store, 3 * :count + 1, :workspace, md5('unredacted')::uuid, md5('redacted')::uuid, :count + 1,
    1, '/redacted', 0, sha256('seen'), 4, false, 4, :start + 3 * :count + 1, 'api'
);

insert into payload (store_id, seq, workspace_id, content)
values (:store, 3 * :count + 1, :workspace, 'seen');

insert into memory (
    store_id, memory_id, workspace_id, partition, owner, path, visibility, head, head_id, op,
    revision, digest, size_bytes, is_sealed, created_at, updated_at
)
select
    store_id, memory_id, workspace_id, '00000000-0000-0000-0000-000000000000', :owner, path, 0, seq,
    version_id, op, revision, digest, size_bytes, false, :start + :count + 1, created_at
from version
where version_id = md5('unredacted')::uuid;

update store
set
    seq = 3 * :count + 1, last_at = :start + 3 * :count + 1, memory_count = :count + 1,
    version_count = 2 * :count + 1, content_bytes = (select sum(size_bytes) from memory)
where store_id = :store;

insert into idempotency (workspace_id, scope, key, fingerprint, kind, refs, at)
select
    :workspace, md5('caller ' || n % 100)::uuid, 'request ' || n, sha256(n::text::bytea), 0, '',
    :start + n
from generate_series(1, :count) as n;

insert into generation (generation, model, dims, created_at) values (1, 'm', 2, :start);

insert into vector (store_id, generation, seq, workspace_id, passages)
select store_id, 1, head, workspace_id, '\x00000000' from memory;

insert into word (
    store_id, memory_id, workspace_id, seq, partition, visibility, place, length, terms
)
select
    store_id, memory_id, workspace_id, head, partition, 0,
    split_part(path, '/', 2) || chr(1) || head, 1, array_to_tsvector(array['file'])
from memory;

insert into reading (store_id, memory_id, reader, workspace_id, seq, number, read_at, claims)
select store_id, memory_id, 'r', workspace_id, head, head, :start, '[]' from memory;

analyze;
