//! Row security, looked at from inside the database: what the role of the servers can see, change and
//! switch off without or with a tenant, table by table. The tables are asked for and not listed, so
//! that one which a later migration adds is held to the same.
//!
//! Whoever may become somebody else by logging in is not held by this: a server that logs in as a
//! superuser takes the role of its own will. So the login here is what is recommended, a user that
//! is a member of the role and nothing more.
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_postgres::{Build, Database};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

/// Tables of no tenant. They name no memory, and whoever adds one decides that here.
const SHARED: [&str; 5] = ["access_page", "generation", "last_generation", "lease", "migration"];

/// What runs with the owner's rights, and all that it gives out. Most of it looks across tenants; what
/// looks words up looks at the transaction's tenant by itself.
const CROSSING: [(&str, &str); 16] = [
    ("close_passages", "void"),
    ("crowded_stores", "TABLE(workspace_id uuid, store_id uuid)"),
    ("drop_vectors", "boolean"),
    ("erasable_memories", "TABLE(workspace_id uuid, store_id uuid, memory_id uuid)"),
    ("expired_memories", "TABLE(workspace_id uuid, store_id uuid, memory_id uuid)"),
    ("forget_idempotency", "bigint"),
    (
        "key_by_hash",
        "TABLE(key_id uuid, workspace_id uuid, principal_id uuid, name text, hint text, \
         secret_hash bytea, power smallint, stores uuid[], session_id uuid, audience smallint, \
         created_at bigint, expires_at bigint, revoked_at bigint, principal_kind smallint, \
         principal_name text, is_admin boolean, principal_created_at bigint, page bigint, \
         acts_for_agents boolean, principal_memory smallint)",
    ),
    ("lagging_stores", "TABLE(workspace_id uuid, store_id uuid, through bigint, seq bigint)"),
    ("look_again", "void"),
    ("look_up_words", "TABLE(place bigint, held bigint, memory_id uuid)"),
    ("open_passages", "void"),
    ("reading_cost", "TABLE(requests bigint, tokens bigint)"),
    ("strays", "TABLE(kind text, store_id uuid)"),
    ("unpurged_stores", "TABLE(workspace_id uuid, store_id uuid)"),
    ("unread_stores", "TABLE(workspace_id uuid, store_id uuid, through bigint)"),
    ("workspaces_after", "TABLE(workspace_id uuid, created_at bigint)"),
];

/// What is only ever added to: the role may not take it even from its own tenant. Nor change it, but
/// for where the audit log ends.
const LASTING: [&str; 2] = ["event", "event_end"];

const OURS: &str = "00000000-0000-0000-0000-00000000000a";
const THEIRS: &str = "00000000-0000-0000-0000-00000000000b";

/// A row of each tenant in every table that has tenants, with values that mean nothing.
const FILL: &str = "do $$
declare
    of_table regclass;
    tenant text;
    shown text;
begin
    set local session_replication_role = replica;
    for of_table, shown in
        select c.oid, string_agg(
            case
                when a.attname = 'workspace_id' then '%L'
                when a.atttypid = 'uuid'::regtype then 'gen_random_uuid()'
                when t.typcategory = 'N' then '1'
                when t.typcategory = 'S' then 'gen_random_uuid()::text'
                when t.typcategory = 'B' then 'false'
                when t.typcategory = 'A' then quote_literal('{}')
                when a.atttypid = 'bytea'::regtype then 'uuid_send(gen_random_uuid())'
                else quote_literal('')
            end, ', ' order by a.attnum
        )
        from pg_class as c
        inner join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        inner join pg_type as t on t.oid = a.atttypid
        where c.relnamespace = 'loci'::regnamespace and c.relkind = 'r' and c.relrowsecurity
        group by c.oid
    loop
        foreach tenant in array array[
            '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b'
        ]
        loop
            execute format(format('insert into %s values (%s)', of_table, shown), tenant);
        end loop;
    end loop;
end
$$";

/// A database with rows of two tenants, its superuser, and a server's connection.
struct Vault {
    operator: Client,
    server: Client,
    guest: String,
    database: Database,
}

impl Vault {
    async fn new() -> Self {
        let database = Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap();
        let patience = Duration::from_secs(20);
        let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
        drop(PostgresStorage::open(&options, 1).await.unwrap());
        let operator = connect(&database.url()).await;
        operator.batch_execute(FILL).await.unwrap();
        operator.batch_execute("analyze").await.unwrap();
        let guest = format!("{}_guest", database.name());
        let make = format!("create role {guest} login password 'guest' in role loci_app");
        operator.batch_execute(&make).await.unwrap();
        let server = connect(&database.url_as(&guest, "guest")).await;
        server.batch_execute("set role loci_app; set search_path to loci, pg_temp").await.unwrap();
        Self { operator, server, guest, database }
    }

    /// Roles belong to all databases of a server, so this one does not go with its own.
    async fn end(self) {
        let Self { operator, server, guest, database } = self;
        drop(server);
        operator.batch_execute(&format!("drop role {guest}")).await.unwrap();
        drop(database);
    }

    /// Tables with tenants.
    async fn tables(&self) -> Vec<String> {
        let sql = "select relname::text from pg_class
            where relnamespace = 'loci'::regnamespace and relkind = 'r' and relrowsecurity
            order by relname";
        let found = texts(&self.operator, sql).await;
        assert!(found.len() >= 14, "{found:?}");
        found
    }

    async fn enter(&self, tenant: &str) {
        let sql = format!("select set_config('loci.workspace', '{tenant}', false)");
        self.server.batch_execute(&sql).await.unwrap();
    }

    async fn count(&self, of: &str) -> i64 {
        let sql = format!("select count(*) from {of}");
        self.server.query_one(&sql, &[]).await.unwrap().get(0)
    }

    /// That the server is refused, and that it is for want of the right.
    async fn assert_denied(&self, sql: &str) {
        let error = self.server.batch_execute(sql).await.expect_err(sql);
        let denied = [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::INVALID_PARAMETER_VALUE];
        assert!(denied.contains(error.code().unwrap()), "{sql}: {error:?}");
    }
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn texts(client: &Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn every_table_is_locked_or_nobodys() {
    let vault = Vault::new().await;
    let unlocked = "select relname::text from pg_class
        where relnamespace = 'loci'::regnamespace and relkind in ('r', 'p', 'f', 'm')
            and not (relrowsecurity and relforcerowsecurity)
        order by relname";
    assert_eq!(texts(&vault.operator, unlocked).await, SHARED);

    // One policy for the role, that compares the workspace on the way in and out; one for the owner.
    let policies = "select distinct concat_ws(' ', polname, polcmd, polpermissive,
            polroles = array['loci_app'::regrole::oid], polwithcheck is null,
            pg_get_expr(polqual, polrelid))
        from pg_policy where polname = 'tenant'";
    let expected = "tenant * t t t (workspace_id = ( SELECT (NULLIF(current_setting(\
                    'loci.workspace'::text, true), ''::text))::uuid AS \"nullif\"))";
    assert_eq!(texts(&vault.operator, policies).await, [expected]);
    let odd = "select c.relname::text from pg_class as c
        left join pg_policy as p on p.polrelid = c.oid
        where c.relnamespace = 'loci'::regnamespace and c.relkind = 'r' and c.relrowsecurity
        group by c.relname
        having array_agg(p.polname::text order by p.polname) <> array['owner', 'tenant']";
    assert_eq!(texts(&vault.operator, odd).await, [""; 0]);
    let for_others = "select polrelid::regclass::text from pg_policy
        where polname = 'owner' and polroles @> array['loci_app'::regrole::oid]
            or 0::oid = any(polroles)";
    assert_eq!(texts(&vault.operator, for_others).await, [""; 0]);

    let nobodys = "select c.relname::text from pg_class as c
        inner join pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id'
        where c.relnamespace = 'loci'::regnamespace and c.relkind = 'r'
            and not (c.relrowsecurity and a.attnotnull)";
    assert_eq!(texts(&vault.operator, nobodys).await, [""; 0], "a tenant's row names its tenant");
    let lenient = "select relname::text from pg_class
        where relnamespace = 'loci'::regnamespace and relkind = 'v'
            and not coalesce(reloptions @> array['security_invoker=true'], false)";
    assert_eq!(texts(&vault.operator, lenient).await, [""; 0], "views see what their reader sees");
    vault.end().await;
}

#[tokio::test]
async fn the_role_sees_the_rows_of_its_tenant_and_no_others() {
    let vault = Vault::new().await;
    let mut shown = vault.tables().await;
    shown.extend(["change", "live_memory", "known_version"].map(str::to_owned));
    for table in &shown {
        assert_eq!(vault.count(table).await, 0, "{table} before a tenant is set");
    }
    for tenant in [OURS, THEIRS] {
        vault.enter(tenant).await;
        for table in vault.tables().await {
            assert_eq!(vault.count(&table).await, 1, "{table}");
            let own = format!("{table} where workspace_id = '{tenant}'");
            assert_eq!(vault.count(&own).await, 1, "{table}");
        }
    }
    vault.enter("").await;
    for table in &shown {
        assert_eq!(vault.count(table).await, 0, "{table} after it is taken back");
    }
    vault.end().await;
}

#[tokio::test]
async fn the_role_changes_nothing_of_another_tenant() {
    let vault = Vault::new().await;
    vault.enter(OURS).await;
    for table in vault.tables().await {
        let theirs = format!(
            "select to_jsonb(t)::text from loci.{table} as t where workspace_id = '{THEIRS}'"
        );
        let before = texts(&vault.operator, &theirs).await;
        let row = before[0].replace('\'', "''");
        vault
            .assert_denied(&format!(
                "insert into {table} select * from jsonb_populate_record(null::{table}, '{row}')"
            ))
            .await;
        vault.assert_denied(&format!("update {table} set workspace_id = '{THEIRS}'")).await;
        for sql in [
            format!("update {table} set workspace_id = '{OURS}' where workspace_id = '{THEIRS}'"),
            format!("delete from {table} where workspace_id = '{THEIRS}'"),
            format!("delete from {table} where workspace_id <> '{OURS}'"),
        ] {
            match vault.server.execute(&sql, &[]).await {
                Ok(changed) => assert_eq!(changed, 0, "{sql}"),
                Err(error) => {
                    let is_denied = error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE);
                    assert!(is_denied && LASTING.contains(&table.as_str()), "{sql}: {error:?}");
                }
            }
        }
        vault.assert_denied(&format!("truncate {table}")).await;
        assert_eq!(texts(&vault.operator, &theirs).await, before, "{table}");
    }
    vault.assert_denied("update event set detail = 'other'").await;
    // Not even without saying whose.
    for table in vault.tables().await {
        if LASTING.contains(&table.as_str()) {
            vault.assert_denied(&format!("delete from {table}")).await;
            continue;
        }
        let gone = vault.server.execute(&format!("delete from {table}"), &[]).await.unwrap();
        assert!(gone <= 1, "{table}: {gone}");
        let left = format!("select workspace_id::text from loci.{table}");
        assert_eq!(texts(&vault.operator, &left).await, [THEIRS], "{table}");
    }
    vault.end().await;
}

#[tokio::test]
async fn the_role_cannot_take_the_lock_off() {
    let vault = Vault::new().await;
    vault.enter(OURS).await;
    let owner = texts(&vault.operator, "select current_user::text").await.remove(0);
    for sql in [
        "alter table store disable row level security",
        "alter table store no force row level security",
        "alter table store owner to loci_app",
        "drop policy tenant on store",
        "alter policy tenant on store using (true)",
        "create policy mine on store to loci_app using (true)",
        "alter role loci_app bypassrls",
        "alter role loci_app superuser",
        "create table loci.mine (x int)",
        "create function loci.mine() returns int language sql as 'select 1'",
        "create or replace view change as select * from version",
        "copy store to program 'cat'",
        "set session_replication_role to replica",
        "lock table store in access exclusive mode nowait; alter table store add x int",
        &format!("set role {owner}"),
        &format!("set session authorization {owner}"),
        "reset role; set role pg_read_all_data",
    ] {
        vault.assert_denied(sql).await;
        vault.server.batch_execute("rollback; set role loci_app").await.unwrap();
    }
    // Asked to show everything or nothing, PostgreSQL shows nothing.
    vault.server.batch_execute("set row_security to off").await.unwrap();
    for table in vault.tables().await {
        vault.assert_denied(&format!("select from {table}")).await;
    }
    vault.server.batch_execute("set row_security to on").await.unwrap();

    // Who logs in for the role is bound as the role is.
    vault.server.batch_execute("reset role").await.unwrap();
    for table in vault.tables().await {
        assert_eq!(vault.count(&table).await, 1, "{table}");
    }
    vault.server.batch_execute("set role loci_app").await.unwrap();

    // The planner's notes about values are of all tenants, so they are nobody's to read.
    let noted: BTreeSet<String> = texts(
        &vault.server,
        "select distinct tablename::text from pg_stats where schemaname = 'loci'",
    )
    .await
    .into_iter()
    .collect();
    assert!(noted.iter().all(|table| SHARED.contains(&table.as_str())), "{noted:?}");
    vault.end().await;
}

#[tokio::test]
async fn what_looks_across_tenants_gives_no_more_than_it_says() {
    let vault = Vault::new().await;
    let crossing = "select proname || ' ' || pg_get_function_result(oid) from pg_proc
        where pronamespace = 'loci'::regnamespace and prosecdef order by proname";
    let expected = CROSSING.map(|(name, result)| format!("{name} {result}"));
    assert_eq!(texts(&vault.operator, crossing).await, expected);
    let loose = "select proname::text from pg_proc as p
        where pronamespace = 'loci'::regnamespace and prosecdef and (
            not coalesce(array_to_string(proconfig, ';') like '%search\\_path=loci, pg_temp%', false)
            or exists (
                select 1 from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
                where a.grantee = 0
            )
        )";
    assert_eq!(texts(&vault.operator, loose).await, [""; 0], "only the role may call them");

    let hashes =
        texts(&vault.operator, "select encode(secret_hash, 'hex') from loci.api_key").await;
    let found = |hash: &str| format!("key_by_hash(decode('{hash}', 'hex'))");
    assert_eq!(vault.count(&found(&"00".repeat(32))).await, 0);
    assert_eq!(vault.count(&found("")).await, 0);
    for hash in &hashes {
        // The rows of the fill belong to no principal, which a key needs to be one.
        assert_eq!(vault.count(&found(hash)).await, 0);
    }
    let adopt = "update loci.api_key as k set principal_id = p.principal_id
        from loci.principal as p where p.workspace_id = k.workspace_id";
    vault.operator.batch_execute(adopt).await.unwrap();
    for hash in &hashes {
        assert_eq!(vault.count(&found(hash)).await, 1, "the one whose secret was shown");
    }

    // A word in a live memory of each tenant, looked for in both stores by one of them.
    let speak = "update loci.memory set store_id = workspace_id, memory_id = workspace_id,
            path = '/a', visibility = 0, expires_at = null, is_sealed = false;
        update loci.word set store_id = workspace_id, memory_id = workspace_id, terms = 'basalt',
            visibility = 0, expires_at = null";
    vault.operator.batch_execute(speak).await.unwrap();
    for tenant in [OURS, THEIRS, ""] {
        vault.enter(tenant).await;
        for store in [OURS, THEIRS] {
            let is_own = i64::from(tenant == store);
            let looked = |held: &str| {
                let limits = "9, 3::smallint, 0, 9, false, 9, null, null, null, null";
                let query = format!("look_up_words('{store}', array['basalt'], {limits})");
                format!("{query} where {held}")
            };
            for held in ["held > 0", "memory_id is not null"] {
                assert_eq!(vault.count(&looked(held)).await, is_own, "{tenant} in {store}");
            }
        }
    }
    assert_eq!(
        vault.count("workspaces_after(0, '00000000-0000-0000-0000-000000000000', 1)").await,
        1
    );
    vault.end().await;
}
