//! Several servers on one fresh database, as people run them past one machine.
//!
//! The database lies on the PostgreSQL server that all tests of a run share, and is gone with the
//! [`Cluster`]. A test that mistreats PostgreSQL itself brings a server of its own.

use std::process::Command;
use std::thread;

use loci_test_postgres::{Build, Database, Postgres};

use crate::command::Loci;
use crate::server::{Server, Setup};

/// A fresh database, and how to start servers on it.
#[derive(Debug)]
pub struct Cluster {
    setup: Setup,
    database: Database,
}

impl Cluster {
    /// On the shared server of the oldest supported release, which nothing happens to. All tests of a
    /// run are its callers, so its answers may take a while.
    pub fn fresh() -> Self {
        let url = Build::Floor.url().expect("the run has a PostgreSQL server");
        Self::at(&url).with(|setup| setup.env("LOCI_DATABASE_TIMEOUT_MS", "20000"))
    }

    /// On a server of the test's own.
    pub fn on(postgres: &Postgres) -> Self {
        Self::at(&postgres.url())
    }

    fn at(url: &str) -> Self {
        let database = Database::fresh_blocking(url, None).expect("a database can be made");
        Self { setup: Setup::new().on_database(&database.url()), database }
    }

    /// The same with servers that are set up otherwise.
    #[must_use]
    pub fn with(self, change: impl FnOnce(Setup) -> Setup) -> Self {
        Self { setup: change(self.setup), database: self.database }
    }

    /// How its servers are started.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The database's address, as the superuser.
    pub fn url(&self) -> String {
        self.database.url()
    }

    /// One more server.
    #[track_caller]
    pub fn start(&self) -> Server {
        self.setup.start()
    }

    /// Servers that start at the same moment.
    #[track_caller]
    pub fn start_together(&self, count: usize) -> Vec<Server> {
        thread::scope(|scope| {
            let starting: Vec<_> = (0..count).map(|_| scope.spawn(|| self.setup.start())).collect();
            let started = starting.into_iter();
            started.map(|one| one.join().expect("every server starts")).collect()
        })
    }

    /// The command line on the database, without a server.
    pub fn loci(&self) -> Loci {
        Loci::on_database(&self.url())
    }

    /// What a statement says, asked past Loci; columns are divided by `|`.
    #[track_caller]
    pub fn sql(&self, statement: &str) -> String {
        let output = self.psql(statement).output().expect("psql can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statement}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The program that says it.
    pub fn psql(&self, statement: &str) -> Command {
        let psql = Build::Floor.bin().expect("the run has PostgreSQL's programs").join("psql");
        let mut command = Command::new(psql);
        command.args(["--no-psqlrc", "--tuples-only", "--no-align", "--quiet"]);
        command.args(["--dbname", &self.url(), "--command", statement]);
        command
    }

    /// Looks for damage through the command line.
    #[track_caller]
    pub fn check(&self) {
        self.loci().ok(&["check"]);
    }
}
