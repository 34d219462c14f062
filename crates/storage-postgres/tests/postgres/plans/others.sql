-- Gives the workspace :workspace :count rows of each table beside those of a store: principals with
-- keys, in groups of a hundred, each with a store that is shared with the next; sessions, and events.
-- Enough for plans to be made for; no server ever wrote them.
set search_path to loci;

insert into principal (principal_id, workspace_id, kind, name, is_admin, created_at)
select md5('principal ' || n)::uuid, :workspace, n % 4, 'principal ' || n, false, :start + n
from generate_series(1, :count) as n;

insert into api_key (
    key_id, workspace_id, principal_id, name, hint, secret_hash, power, session_id, audience,
    created_at
)
select
    md5('key ' || n)::uuid, :workspace, md5('principal ' || n)::uuid, 'key', '', sha256(n::text::bytea),
    2, md5('session ' || n)::uuid, 0, :start + n
from generate_series(1, :count) as n;

insert into membership (workspace_id, group_id, member_id, since)
select
    :workspace, md5('principal ' || (n / 100) * 100)::uuid, md5('principal ' || n)::uuid, :start + n
from generate_series(1, :count) as n;

insert into store (
    store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by, share_by,
    content_bytes_max, memories_max, repeats, created_at, updated_at, address, soft_cap, removed_at
)
select
    md5('store ' || n)::uuid, :workspace, md5('principal ' || n)::uuid, 'store', '', '{}', false,
    false, false, 1000, 1000, 0, :start + n, :start + n, 'home:' || n,
    case n % 100 when 0 then 100 end, case n % 1000 when 1 then :start end
from generate_series(1, :count) as n;

insert into grant_ (
    store_id, grantee, workspace_id, grant_id, level, given_by, created_at
)
select
    md5('store ' || n)::uuid, md5('principal ' || n + 1)::uuid, :workspace, md5('grant ' || n)::uuid, 1,
    md5('principal ' || n)::uuid, :start + n
from generate_series(1, :count) as n;

insert into session (
    session_id, workspace_id, owner, metadata, agent_id, agent_version, details, created_at, updated_at
)
select
    md5('session ' || n)::uuid, :workspace, md5('principal ' || n)::uuid, '{}', 'agent', 1, '{}',
    :start + n, :start + n
from generate_series(1, :count) as n;

insert into attachment (
    session_id, position, workspace_id, store_id, access, name, description, mount_path
)
select md5('session ' || n)::uuid, 0, :workspace, md5('store ' || n)::uuid, 0, 'store', '', '/store'
from generate_series(1, :count) as n;

insert into event (workspace_id, seq, at, actor_kind, principal, kind, store, hash)
select
    :workspace, n, :start + n, 4, md5('principal ' || n)::uuid, 'grant.given',
    md5('store ' || n)::uuid, ''
from generate_series(1, :count) as n;

analyze;
