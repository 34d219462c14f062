//! Databases for tests: made in a moment from a template with the schema in it, dropped afterwards.

use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_postgres::{Build, Database};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;

/// The template of this process. Nobody drops it but the end of the server it is on.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();
static LAST_SERVER: AtomicU64 = AtomicU64::new(0);

/// A database of one test's own.
pub(crate) struct Scratch {
    database: Option<Database>,
}

impl Drop for Scratch {
    /// Dropping a database waits for every process of the server, also for one that is still shaking
    /// hands with a connection of this test. That one needs the test's only thread, so the wait must
    /// be elsewhere.
    fn drop(&mut self) {
        let database = self.database.take();
        std::thread::spawn(move || drop(database));
    }
}

impl Scratch {
    pub(crate) async fn new() -> Self {
        let server = Build::Floor.url().expect("run with cargo xtask");
        let template = TEMPLATE.get_or_init(|| async {
            let made = Database::fresh(&server, None).await.expect("a database is made");
            drop(open(&made.url()).await);
            let name = made.name().to_owned();
            // Kept for all tests of this process.
            std::mem::forget(made);
            name
        });
        let template = template.await;
        let made = Database::fresh(&server, Some(template)).await;
        Self { database: Some(made.expect("a template is copied")) }
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        self.database.as_ref().expect("there until the end").url()
    }

    /// A server on it.
    pub(crate) async fn open(&self) -> PostgresStorage {
        open(&self.url()).await
    }
}

async fn open(url: &str) -> PostgresStorage {
    let options = PostgresOptions {
        pool_size: 8,
        // Many tests share two cores: slow is not dead.
        patience: Duration::from_secs(20),
        ..PostgresOptions::new(url)
    };
    let own = LAST_SERVER.fetch_add(1, Ordering::Relaxed).into();
    PostgresStorage::open(&options, own).await.expect("a new database opens")
}
