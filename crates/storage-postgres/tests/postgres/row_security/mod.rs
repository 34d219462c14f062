//! Row security alone: policy decides on forged facts, so a caller of one workspace gets passes to a
//! store of another. In PostgreSQL that caller still sees nothing there and changes nothing. The same
//! attempts succeed in PostgreSQL without row security, and in SQLite, which has none: so it is row
//! security that holds them, and not policy.
//!
//! The module `second_lock` looks at the same lock from inside the database.

mod beneath;
mod forger;
mod reading;
mod world;
mod writing;

use crate::database::Scratch;
use loci_storage::Storage;
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_postgres::NoTls;
use world::{MARK, World};

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

type Attempt = (Kind, &'static str);

/// Every attempt.
fn attempts() -> impl Iterator<Item = Attempt> {
    of(Kind::Reading, &reading::ALL)
        .chain(of(Kind::Writing, &writing::ALL))
        .chain(of(Kind::Beneath, &beneath::ALL))
}

/// Those that nothing holds but policy and row security; the rest compares workspaces once more.
fn bare() -> impl Iterator<Item = Attempt> {
    of(Kind::Reading, &reading::BARE)
        .chain(of(Kind::Writing, &writing::BARE))
        .chain(of(Kind::Beneath, &beneath::BARE))
}

fn of(kind: Kind, names: &'static [&'static str]) -> impl Iterator<Item = Attempt> {
    names.iter().map(move |name| (kind, *name))
}

async fn outcome(world: &World, (kind, name): Attempt) -> Outcome {
    let answer = match kind {
        Kind::Reading => reading::attempt(world, name).await,
        Kind::Writing => writing::attempt(world, name).await,
        Kind::Beneath => beneath::attempt(world, name).await,
    };
    if world.belongings().await != world.untouched {
        Outcome::Changed
    } else if answer.contains(MARK) {
        Outcome::Seen
    } else {
        Outcome::Nothing
    }
}

/// Tries attempts on an engine without row security and tells which of them succeeded. Each of them
/// meets a victim from whom nothing was taken: after an attempt that changed something the next one
/// gets two new tenants.
async fn succeeded(
    storage: &Arc<dyn Storage>,
    attempts: impl Iterator<Item = Attempt>,
) -> BTreeSet<Attempt> {
    let mut world = World::new(Arc::clone(storage)).await;
    world.intruder_works_at_home().await;
    assert_eq!(world.belongings().await, world.untouched, "what the intruder may do is no success");
    let mut succeeded = BTreeSet::new();
    for attempt in attempts {
        let outcome = outcome(&world, attempt).await;
        if outcome != Outcome::Nothing {
            succeeded.insert(attempt);
        }
        if outcome == Outcome::Changed {
            world = World::new(Arc::clone(storage)).await;
        }
    }
    succeeded
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_alone_keeps_tenants_apart() {
    let scratch = Scratch::new().await;
    let storage: Arc<dyn Storage> = Arc::new(scratch.open().await);
    let world = World::new(Arc::clone(&storage)).await;
    for attempt in attempts() {
        assert_eq!(outcome(&world, attempt).await, Outcome::Nothing, "{attempt:?}");
    }
    let report = storage.check().await.unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_row_security_is_off_the_same_attempts_succeed() {
    let scratch = Scratch::new().await;
    switch_off(&scratch.url()).await;
    let storage: Arc<dyn Storage> = Arc::new(scratch.open().await);
    assert_eq!(succeeded(&storage, bare()).await, bare().collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn on_an_engine_without_row_security_the_same_attempts_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let storage = SqliteStorage::open(folder.path(), SqliteOptions::default()).unwrap();
    let storage: Arc<dyn Storage> = Arc::new(storage);
    // Every attempt, which shows that the list of bare ones leaves none out.
    assert_eq!(succeeded(&storage, attempts()).await, bare().collect());
}

/// Takes the second lock off every table.
async fn switch_off(url: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let speaking = tokio::spawn(connection);
    let sql = "do $$ declare t regclass; begin
        for t in select oid from pg_class where relnamespace = 'loci'::regnamespace and relkind = 'r'
        loop execute format('alter table %s disable row level security', t); end loop; end $$";
    client.batch_execute(sql).await.unwrap();
    drop(client);
    speaking.await.unwrap().unwrap();
}
