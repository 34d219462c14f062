//! The schema and its numbered steps. Each step runs in one transaction together with its number, so
//! a database is always at exactly one format; and whoever runs steps holds a lock that the database
//! has only once, so that any number of servers may start at the same time.
//!
//! The steps take a user that may make a role and a schema. Once they are there, a user that is no
//! more than a member of the role `loci_app` can start.

use crate::open::{OPENING_MAX, OpenError};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

/// The role that servers work as.
pub(crate) const ROLE: &str = "loci_app";

/// Step `n` leads from format `n` to `n + 1`.
const STEPS: [&str; 10] = [
    include_str!("../migrations/0001_init.sql"),
    include_str!("../migrations/0002_access.sql"),
    include_str!("../migrations/0003_search.sql"),
    include_str!("../migrations/0004_sharing.sql"),
    include_str!("../migrations/0005_tails.sql"),
    include_str!("../migrations/0006_compaction.sql"),
    include_str!("../migrations/0007_readings.sql"),
    include_str!("../migrations/0008_caps.sql"),
    include_str!("../migrations/0009_audit_ends.sql"),
    include_str!("../migrations/0010_caps.sql"),
];

/// The format this version writes.
pub(crate) const FORMAT: u32 = STEPS.len() as u32;

/// The oldest server that works, as it counts itself.
const SERVER_MIN: i32 = 150_000;

/// `Loci` in ASCII: the number of the lock.
const LOCK: i64 = 0x4c6f_6369;

/// Before the steps: they take as long as they take, but wait for nobody else for ever.
const PATIENT: &str = "set statement_timeout to 0; set lock_timeout to '30s'; \
    set idle_in_transaction_session_timeout to 0; set client_min_messages to warning";

/// How often joining the role is tried: a server refuses two such changes at one moment.
const JOINS_MAX: u32 = 5;
const JOIN_PAUSE: Duration = Duration::from_millis(50);

/// What is there, as any user can see it.
struct Look {
    user: String,
    database: String,
    has_role: bool,
    is_member: bool,
    has_schema: bool,
    has_migrations: bool,
    /// Who may change the schema, where there is one.
    owner: Option<String>,
}

/// Brings the schema up to date.
pub(crate) async fn run(client: &Client) -> Result<(), OpenError> {
    let late = |_| OpenError::Unreachable("no answer in time".into());
    let first = timeout(OPENING_MAX, async {
        let look = look(client).await?;
        let format = format_of(client, &look).await?;
        Ok::<_, OpenError>(format == FORMAT && takes_role(client).await?)
    });
    let is_ready = first.await.map_err(late)??;
    if is_ready {
        return Ok(());
    }
    client.batch_execute(PATIENT).await?;
    lock(client).await?;
    // Somebody else may have done it all in the meantime.
    let found = look(client).await?;
    let format = format_of(client, &found).await?;
    let prepared = async {
        prepare(client, &found).await?;
        for (step, to) in STEPS.iter().zip(1u32..).filter(|(_, to)| *to > format) {
            client.batch_execute(&in_one_go(step, to)).await?;
        }
        Ok::<_, tokio_postgres::Error>(())
    };
    prepared.await.map_err(|error| match &found.owner {
        Some(owner) if (1..FORMAT).contains(&format) && is_denied(&error) => {
            left_behind(format, owner, &found)
        }
        _ => not_allowed(error, &found),
    })?;
    // The lock goes with the connection.
    Ok(())
}

/// Refuses a schema that is not this version's, without changing anything: a replica gets its schema
/// from the primary, so one that is not there yet may come.
pub(crate) async fn require(client: &Client) -> Result<(), OpenError> {
    let late = |_| OpenError::Unreachable("no answer in time".into());
    let found = timeout(OPENING_MAX, format(client)).await.map_err(late)??;
    if found == FORMAT {
        return Ok(());
    }
    Err(OpenError::Unreachable(format!(
        "it has format {found} and this version needs {FORMAT}, which a server on the primary makes"
    )))
}

/// The format that is there, 0 for none; changes nothing.
pub(crate) async fn format(client: &Client) -> Result<u32, OpenError> {
    let look = look(client).await?;
    format_of(client, &look).await
}

/// Refuses what does not work, and tells the rest.
async fn look(client: &Client) -> Result<Look, OpenError> {
    let row = client.query_one(include_str!("../queries/migration/look.sql"), &[]).await?;
    if row.try_get::<_, i32>(0)? < SERVER_MIN {
        return Err(OpenError::OldServer { found: row.try_get(1)? });
    }
    let encoding: String = row.try_get(2)?;
    if encoding != "UTF8" {
        return Err(OpenError::Encoding { found: encoding });
    }
    let is_unbound: bool = row.try_get(6)?;
    if is_unbound {
        return Err(OpenError::NotAllowed(format!(
            "the role {ROLE} sees the rows of all tenants; let an administrator run: \
             alter role {ROLE} nosuperuser nobypassrls"
        )));
    }
    Ok(Look {
        user: row.try_get(3)?,
        database: row.try_get(4)?,
        has_role: row.try_get(5)?,
        is_member: row.try_get(7)?,
        has_schema: row.try_get(8)?,
        has_migrations: row.try_get(9)?,
        owner: row.try_get(10)?,
    })
}

/// The format of the database; one that is newer than known is refused.
async fn format_of(client: &Client, look: &Look) -> Result<u32, OpenError> {
    if !look.has_migrations {
        return Ok(0);
    }
    let sql = include_str!("../queries/migration/format.sql");
    let row = match client.query_one(sql, &[]).await {
        // What the role may read, its members may not always read by themselves.
        Err(error) if is_denied(&error) && takes_role(client).await? => {
            client.batch_execute(&format!("set role {ROLE}")).await?;
            let row = client.query_one(sql, &[]).await?;
            client.batch_execute("reset role").await?;
            row
        }
        Err(error) => return Err(not_allowed(error, look)),
        Ok(row) => row,
    };
    let found = u32::try_from(row.try_get::<_, i32>(0)?).unwrap_or(u32::MAX);
    if found > FORMAT {
        return Err(OpenError::NewerFormat { found, known: FORMAT });
    }
    Ok(found)
}

/// Whether the user may work as the role.
async fn takes_role(client: &Client) -> Result<bool, tokio_postgres::Error> {
    match client.batch_execute(&format!("set role {ROLE}; reset role")).await {
        Ok(()) => Ok(true),
        Err(error) if is_denied(&error) || is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until no other server changes the schema.
async fn lock(client: &Client) -> Result<(), OpenError> {
    match client.execute("select pg_advisory_lock($1)", &[&LOCK]).await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            Err(OpenError::Unreachable("another server is still changing its schema".into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes what the steps build on, as far as it is missing.
async fn prepare(client: &Client, look: &Look) -> Result<(), tokio_postgres::Error> {
    if !look.has_role {
        client.batch_execute(include_str!("../queries/migration/role.sql")).await?;
    }
    if !look.has_schema {
        client.batch_execute("create schema loci").await?;
    }
    if !look.has_migrations {
        client.batch_execute(include_str!("../queries/migration/table.sql")).await?;
        client.batch_execute(&format!("grant usage on schema loci to {ROLE}")).await?;
    }
    for attempt in 1.. {
        if takes_role(client).await? {
            break;
        }
        match client.batch_execute(&format!("grant {ROLE} to current_user")).await {
            Err(error) if is_denied(&error) || attempt >= JOINS_MAX => return Err(error),
            Ok(()) if attempt >= JOINS_MAX => break,
            Ok(()) => {}
            Err(_) => sleep(JOIN_PAUSE * attempt).await,
        }
    }
    Ok(())
}

/// A step and its number in one transaction.
fn in_one_go(step: &str, to: u32) -> String {
    format!(
        "begin;\nset local search_path to loci;\n{step}\n\
         insert into migration (number) values ({to});\ncommit"
    )
}

fn is_denied(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE)
}

/// What is not there is a role: PostgreSQL calls that a wrong value of the setting.
fn is_missing(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE)
}

/// Tells a user that may only work on the schema who brings it forward. Making it the owner would
/// work too, and give every server more than it needs.
fn left_behind(format: u32, owner: &str, look: &Look) -> OpenError {
    let Look { user, database, .. } = look;
    OpenError::NotAllowed(format!(
        "the schema of the database {database} has format {format}, this version of loci needs \
         {FORMAT}, and the user {user} may not change it; bring it forward once as the role that \
         owns it: LOCI_DATABASE=postgres://{owner}:…@…/{database} loci check"
    ))
}

/// Tells a user that may not do something what lets it.
fn not_allowed(error: tokio_postgres::Error, look: &Look) -> OpenError {
    if !is_denied(&error) {
        return error.into();
    }
    let Look { user, database, .. } = look;
    let mut needed = Vec::new();
    if !look.has_role {
        needed.push(format!("create role {ROLE} nologin;"));
    }
    if !look.is_member {
        needed.push(format!("grant {ROLE} to {user};"));
    }
    if !look.has_schema {
        needed.push(format!("create schema loci authorization {user};"));
    } else if look.is_member || !look.has_migrations {
        needed.push(format!("alter schema loci owner to {user};"));
    }
    OpenError::NotAllowed(format!(
        "the user {user} may not set up the database {database} ({}); let an administrator run \
         there: {}",
        error.as_db_error().map_or("not allowed", |said| said.message()),
        needed.join(" "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Clients;
    use crate::open::{PostgresOptions, open};
    use loci_test_postgres::{Build, Database};
    use tokio_postgres::NoTls;

    async fn fresh() -> Database {
        Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap()
    }

    async fn opened(url: &str) -> Result<Clients, OpenError> {
        open(&PostgresOptions::new(url)).await.map(|opened| opened.clients)
    }

    async fn as_superuser(database: &Database, sql: &str) {
        let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
        let link = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        link.await.unwrap().unwrap();
    }

    async fn one(clients: &Clients, sql: &str) -> String {
        clients.pool.get().await.unwrap().query_one(sql, &[]).await.unwrap().get(0)
    }

    #[tokio::test]
    async fn servers_start_at_the_same_time() {
        let database = fresh().await;
        let url = database.url();
        let starts = (0..4).map(|_| opened(&url));
        for start in futures_util::future::join_all(starts).await {
            let clients = start.unwrap();
            assert_eq!(one(&clients, "select current_user::text").await, ROLE);
            let steps = one(&clients, "select count(*)::text from migration").await;
            assert_eq!(steps, FORMAT.to_string());
        }
    }

    #[tokio::test]
    async fn a_newer_format_is_left_alone() {
        let database = fresh().await;
        as_superuser(
            &database,
            "create schema loci; create table loci.migration (number int);
            insert into loci.migration values (1), (99)",
        )
        .await;
        let refused = opened(&database.url()).await.err();
        assert!(matches!(refused, Some(OpenError::NewerFormat { found: 99, known: FORMAT })));
        as_superuser(&database, "drop table loci.migration; drop schema loci").await;
    }

    #[tokio::test]
    async fn a_user_without_rights_is_told_what_lets_it() {
        // From here on the server has the role, whoever else starts on it.
        opened(&fresh().await.url()).await.unwrap();
        let database = fresh().await;
        let user = format!("{}_owner", database.name());
        let member = format!("{}_member", database.name());
        for role in [&user, &member] {
            as_superuser(&database, &format!("create role {role} login password 'secret'")).await;
        }
        let url = database.url_as(&user, "secret");
        let told = match opened(&url).await {
            Err(OpenError::NotAllowed(told)) => told,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("opened"),
        };
        let (_, statements) = told.split_once("run there: ").unwrap();
        as_superuser(&database, statements).await;
        opened(&url).await.unwrap();

        let url = database.url_as(&member, "secret");
        let refused = opened(&url).await.err().unwrap().to_string();
        assert!(refused.ends_with(&format!("run there: grant {ROLE} to {member};")), "{refused}");
        as_superuser(&database, &format!("grant {ROLE} to {member}")).await;
        as_superuser(&database, &format!("alter role {member} noinherit")).await;
        let clients = opened(&url).await.unwrap();
        assert_eq!(one(&clients, "select current_user::text").await, ROLE);
        drop(clients);
        let tidy = format!("reassign owned by {user} to current_user; drop owned by {user};");
        as_superuser(&database, &format!("{tidy} drop role {user}; drop role {member}")).await;
    }

    #[tokio::test]
    async fn a_plain_server_role_is_told_who_brings_an_old_schema_forward() {
        let database = fresh().await;
        let (owner, plain) =
            (format!("{}_owner", database.name()), format!("{}_plain", database.name()));
        // Whatever else starts here makes the role.
        opened(&fresh().await.url()).await.unwrap();
        let old = in_one_go(STEPS[0], 1);
        as_superuser(
            &database,
            &format!(
                "create role {owner} login password 'secret'; grant {ROLE} to {owner};
                create role {plain} login password 'secret'; grant {ROLE} to {plain};
                create schema loci authorization {owner}; set role {owner};
                {table}; grant usage on schema loci to {ROLE}; grant select on loci.migration to {ROLE};
                {old}",
                table = include_str!("../queries/migration/table.sql"),
            ),
        )
        .await;
        let refused = opened(&database.url_as(&plain, "secret")).await.err().unwrap().to_string();
        let formats = format!("has format 1, this version of loci needs {FORMAT}");
        assert!(refused.contains(&formats) && refused.ends_with(" loci check"), "{refused}");
        assert!(refused.contains(&format!("postgres://{owner}:")), "{refused}");
        assert!(!refused.contains("alter schema"), "{refused}");
        opened(&database.url_as(&owner, "secret")).await.unwrap();
        let clients = opened(&database.url_as(&plain, "secret")).await.unwrap();
        let steps = one(&clients, "select count(*)::text from migration").await;
        assert_eq!(steps, FORMAT.to_string());
        drop(clients);
        let tidy = format!("reassign owned by {owner} to current_user; drop owned by {owner};");
        as_superuser(&database, &format!("{tidy} drop role {owner}; drop role {plain}")).await;
    }

    #[tokio::test]
    async fn durability_is_not_a_setting() {
        let database = fresh().await;
        let name = database.name();
        as_superuser(&database, &format!("alter database {name} set synchronous_commit = off"))
            .await;
        let clients = opened(&database.url()).await.unwrap();
        assert_eq!(one(&clients, "select current_setting('synchronous_commit')").await, "on");
        assert_eq!(one(&clients, "select current_setting('lock_timeout')").await, "1s");
    }

    #[tokio::test]
    async fn nobody_there_is_told_without_the_password() {
        let refused = opened("postgres://u:hunter2@127.0.0.1:1/db").await.err().unwrap();
        assert!(matches!(&refused, OpenError::Unreachable(_)), "{refused}");
        assert!(!format!("{refused} {refused:?}").contains("hunter2"));
    }
}
