//! What is measured: a server on SQLite and three on one PostgreSQL database, with the same settings.
//!
//! Writes and single reads are measured without a model, so that what is compared is storage; vectors
//! are made in the background and would take the processors for themselves. Searches are measured with
//! the built-in model on a store that was filled once and brought to PostgreSQL by `loci move`.

use super::works::{Readable, Stores, Work, creates, make_stores, searches};
use super::{SERVERS_MAX, Setup, observed};
use crate::child::{KEY, Server};
use crate::load;
use crate::measure::Plan;
use crate::samples::Rate;
use crate::search::corpus::Corpus;
use crate::search::filled;
use crate::search::meaning::Meanings;
use anyhow::{Context, ensure};
use loci_test_postgres::{Build, Database, Postgres, Settings};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

const NO_MODEL: &str = "[search]\nembedder = \"none\"\n";
/// No store is small enough to be held in memory.
const IN_PLACE: &str = "[search]\nindex_memories_max = 0\n";
/// Tables with less for each memory do not grow with memories, and are not told.
const TABLE_BYTES_MIN: f64 = 5.0;
/// Connections are opened when they are first needed; that is not what is measured.
const WARM_UP_SECONDS: f64 = 0.5;

/// Bytes for each memory of the filled store.
pub(crate) struct Disk {
    pub(crate) memories: u64,
    /// Of a text, on average.
    pub(crate) text: f64,
    /// Of the SQLite file.
    pub(crate) sqlite: f64,
    /// Of each table of PostgreSQL: its name, its rows, its indexes.
    pub(crate) tables: Vec<(String, f64, f64)>,
}

/// Servers on both engines.
pub(crate) struct Bed {
    sqlite: Server,
    servers: Vec<Server>,
    content: Content,
    _database: Database,
}

/// What there is to read.
enum Content {
    Plain { sqlite: Readable, postgres: Readable },
    Filled { store: String, corpus: Box<Corpus>, in_place: Box<InPlace> },
}

/// Servers that hold no index, on a PostgreSQL with pgvector, which is needed for that.
struct InPlace {
    servers: Vec<Server>,
    _database: Database,
    _postgres: Postgres,
}

impl InPlace {
    fn start(plan: &Plan, data: &Path, directory: &Path) -> anyhow::Result<Self> {
        let postgres = Postgres::start_with(Build::Current, &Settings::durable())?;
        let database = Database::fresh_blocking(&postgres.url(), None)?;
        observed::execute(&database.url(), "create extension vector")?;
        bring(plan, data, &database.url())?;
        let settings = directory.join("in-place.toml");
        std::fs::write(&settings, IN_PLACE)?;
        let servers = servers(plan, &database, &settings)?;
        Ok(Self { servers, _database: database, _postgres: postgres })
    }
}

impl Bed {
    /// On empty databases, without a model.
    pub(crate) fn fresh(
        plan: &Plan,
        postgres: &Postgres,
        directory: &Path,
    ) -> anyhow::Result<Self> {
        let database = Database::fresh_blocking(&postgres.url(), None)?;
        let data = directory.join("plain");
        let sqlite = Server::loci_with(&plan.loci, &data, NO_MODEL)?;
        let servers = servers(plan, &database, &data.with_extension("toml"))?;
        let content = Content::Plain {
            sqlite: Readable::make(sqlite.address)?,
            postgres: Readable::make(servers[0].address)?,
        };
        let bed = Self { sqlite, servers, content, _database: database };
        for setup in [Setup::Sqlite, Setup::Postgres(SERVERS_MAX)] {
            let work = Work::Create { clients: 64, stores: Stores::Each };
            bed.run(work, setup, WARM_UP_SECONDS, "warm")?;
            bed.run(Work::Get, setup, WARM_UP_SECONDS, "warm")?;
        }
        Ok(bed)
    }

    /// With a store of texts and vectors, the same on both, and the built-in model.
    pub(crate) fn filled(
        plan: &Plan,
        postgres: &Postgres,
        directory: &Path,
        corpus: &Corpus,
        meanings: &Meanings,
    ) -> anyhow::Result<(Self, Disk)> {
        let database = Database::fresh_blocking(&postgres.url(), None)?;
        let data = directory.join("filled");
        drop(Server::loci_with(&plan.loci, &data, "")?);
        let stores = filled::fill(&data, plan.filled, 1, corpus, meanings)?;
        let store = stores.first().context("no store was filled")?.to_string();
        bring(plan, &data, &database.url())?;
        let in_place = Box::new(InPlace::start(plan, &data, directory)?);
        let disk = disk(plan, &data, &database.url(), corpus)?;
        let sqlite = Server::loci_with(&plan.loci, &data, "")?;
        let servers = servers(plan, &database, &data.with_extension("toml"))?;
        // Everybody's first search reads the texts, the first by meaning the vectors and the model.
        for server in std::iter::once(&sqlite).chain(&servers).chain(&in_place.servers) {
            for mode in ["lexical", "hybrid"] {
                load::once(server.address, &searches(&store, corpus, mode)(0, 0))?;
            }
        }
        let content = Content::Filled { store, corpus: Box::new(Corpus::new()), in_place };
        Ok((Self { sqlite, servers, content, _database: database }, disk))
    }

    pub(crate) fn run(
        &self,
        work: Work,
        setup: Setup,
        seconds: f64,
        run: &str,
    ) -> anyhow::Result<Rate> {
        let addresses = match (work, &self.content) {
            (Work::SearchInPlace(_), Content::Filled { in_place, .. }) => {
                self.addresses(setup, &in_place.servers)
            }
            _ => self.addresses(setup, &self.servers),
        };
        let clients = work.clients();
        match (work, &self.content) {
            (Work::Create { stores, .. }, _) => {
                let stores = make_stores(addresses[0], stores, clients)?;
                load::spread(&addresses, clients, seconds, creates(&stores, run))
            }
            (Work::Get, Content::Plain { sqlite, postgres }) => {
                let readable = if setup == Setup::Sqlite { sqlite } else { postgres };
                load::spread(&addresses, clients, seconds, readable.gets())
            }
            (
                Work::Search(mode) | Work::SearchInPlace(mode),
                Content::Filled { store, corpus, .. },
            ) => load::spread(&addresses, clients, seconds, searches(store, corpus, mode)),
            (Work::Get, Content::Filled { .. })
            | (Work::Search(_) | Work::SearchInPlace(_), Content::Plain { .. }) => {
                anyhow::bail!("there is nothing of this sort to read")
            }
        }
    }

    fn addresses(&self, setup: Setup, servers: &[Server]) -> Vec<SocketAddr> {
        match setup {
            Setup::Sqlite => vec![self.sqlite.address],
            Setup::Postgres(count) => {
                servers.iter().take(count).map(|server| server.address).collect()
            }
        }
    }
}

fn servers(plan: &Plan, database: &Database, settings: &Path) -> anyhow::Result<Vec<Server>> {
    let start = |_| Server::loci_on(&plan.loci, &database.url(), settings);
    (0..SERVERS_MAX).map(start).collect()
}

/// Servers without a model on a database, for whoever looks at them more closely.
pub(super) fn plain_servers(
    plan: &Plan,
    database: &Database,
    directory: &Path,
) -> anyhow::Result<Vec<Server>> {
    let settings = directory.join("observed.toml");
    std::fs::write(&settings, NO_MODEL)?;
    servers(plan, database, &settings)
}

/// Moves a data directory into a database, as anybody would.
pub(crate) fn bring(plan: &Plan, data: &Path, database: &str) -> anyhow::Result<()> {
    let mut command = Command::new(&plan.loci);
    command.arg("move").env("LOCI_MOVE_FROM", data).env("LOCI_MOVE_TO", database);
    command.env("LOCI_ADMIN_KEY", KEY).stdin(Stdio::null()).stderr(Stdio::null());
    let moved = command.output().context("loci does not start")?;
    let said = String::from_utf8_lossy(&moved.stdout);
    ensure!(moved.status.success(), "the filled store could not be moved: {said}");
    Ok(())
}

fn disk(plan: &Plan, data: &Path, database: &str, corpus: &Corpus) -> anyhow::Result<Disk> {
    let memories = plan.filled as f64;
    let text: usize = (0..plan.filled).map(|n| corpus.text(n).len()).sum();
    let sqlite = std::fs::metadata(data.join("loci.db"))?.len() as f64 / memories;
    let tables = observed::table_bytes(database)?;
    let each = tables
        .into_iter()
        .map(|(name, rows, indexes)| (name, rows as f64 / memories, indexes as f64 / memories));
    Ok(Disk {
        memories: plan.filled,
        text: text as f64 / memories,
        sqlite,
        tables: each.filter(|(_, rows, indexes)| rows + indexes >= TABLE_BYTES_MIN).collect(),
    })
}
