//! Row security alone: with the policy open and every store known to everybody, a caller of one
//! workspace gets nothing of another in PostgreSQL and changes nothing there. The same attempts on
//! SQLite, which has no second lock, succeed; so the first one was really off.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends here, with a backtrace")]

mod beneath;
mod reading;
mod world;
mod writing;

use loci_storage::Storage;
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use loci_test_postgres::{Build, Database};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::NoTls;
use world::{MARK, World};

const _: () =
    assert!(loci_model::policy::IS_OPEN, "built with the first lock on, this shows nothing");

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Reading,
    Writing,
    Beneath,
}

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Seen,
    Changed,
}

/// Every attempt.
fn attempts() -> impl Iterator<Item = (Kind, &'static str)> {
    of(Kind::Reading, &reading::ALL)
        .chain(of(Kind::Writing, &writing::ALL))
        .chain(of(Kind::Beneath, &beneath::ALL))
}

/// Those that nothing holds but policy and row security; the rest compares workspaces once more.
fn bare() -> impl Iterator<Item = (Kind, &'static str)> {
    of(Kind::Reading, &reading::BARE)
        .chain(of(Kind::Writing, &writing::BARE))
        .chain(of(Kind::Beneath, &beneath::BARE))
}

fn of(kind: Kind, names: &'static [&'static str]) -> impl Iterator<Item = (Kind, &'static str)> {
    names.iter().map(move |name| (kind, *name))
}

async fn outcome(world: &World, (kind, name): (Kind, &str)) -> Outcome {
    let before = world.belongings().await;
    assert!(before.matches(MARK).count() > 10, "there is something to lose");
    let answer = match kind {
        Kind::Reading => reading::attempt(world, name).await,
        Kind::Writing => writing::attempt(world, name).await,
        Kind::Beneath => beneath::attempt(world, name).await,
    };
    if world.belongings().await != before {
        Outcome::Changed
    } else if answer.contains(MARK) {
        Outcome::Seen
    } else {
        Outcome::Nothing
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_alone_keeps_tenants_apart() {
    let database = Database::fresh(&Build::Floor.url().unwrap(), None).await.unwrap();
    let storage = postgres(&database).await;
    let world = World::new(Arc::clone(&storage)).await;
    for attempt in attempts() {
        assert_eq!(outcome(&world, attempt).await, Outcome::Nothing, "{attempt:?}");
    }
    let report = storage.check().await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_row_security_is_off_the_same_attempts_succeed() {
    let server = Build::Floor.url().unwrap();
    let template = Database::fresh(&server, None).await.unwrap();
    drop(postgres(&template).await);
    switch_off(&template).await;
    let mut succeeded = BTreeSet::new();
    for attempt in bare() {
        let database = Database::fresh(&server, Some(template.name())).await.unwrap();
        let world = World::new(postgres(&database).await).await;
        if outcome(&world, attempt).await != Outcome::Nothing {
            succeeded.insert(attempt);
        }
    }
    assert_succeeded(&succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_an_engine_without_row_security_the_same_attempts_succeed() {
    let mut succeeded = BTreeSet::new();
    for attempt in attempts() {
        let folder = tempfile::tempdir().unwrap();
        let storage = SqliteStorage::open(folder.path(), SqliteOptions::default()).unwrap();
        let world = World::new(Arc::new(storage)).await;
        if outcome(&world, attempt).await != Outcome::Nothing {
            succeeded.insert(attempt);
        }
    }
    assert_succeeded(&succeeded);
}

async fn postgres(database: &Database) -> Arc<dyn Storage> {
    let patience = Duration::from_secs(20);
    let options =
        PostgresOptions { patience, pool_size: 4, ..PostgresOptions::new(database.url()) };
    Arc::new(PostgresStorage::open(&options, 1).await.unwrap())
}

/// Takes the second lock off every table.
async fn switch_off(database: &Database) {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    let speaking = tokio::spawn(connection);
    let sql = "do $$ declare t regclass; begin
        for t in select oid from pg_class where relnamespace = 'loci'::regnamespace and relkind = 'r'
        loop execute format('alter table %s disable row level security', t); end loop; end $$";
    client.batch_execute(sql).await.unwrap();
    drop(client);
    speaking.await.unwrap().unwrap();
}

/// What has no lock but these two must have succeeded.
#[track_caller]
fn assert_succeeded(succeeded: &BTreeSet<(Kind, &str)>) {
    let held: Vec<_> = bare().filter(|attempt| !succeeded.contains(attempt)).collect();
    assert_eq!(held, [], "something else holds these");
}
