//! Where the time of a durable write goes. A PostgreSQL of its own counts statements and times the
//! syncs of its log, which costs a little, so these rates stand beside the others and not among them.
//!
//! The same writes are done once more while PostgreSQL syncs nothing: the difference is what the disk
//! costs. That is for explanation only; Loci itself never asks for it.

use super::SERVERS_MAX;
use super::bed::plain_servers;
use super::observed::{self, Log, Processors, Statements, Waits};
use super::works::{Stores, creates, make_stores};
use crate::child::Server;
use crate::load;
use crate::measure::Plan;
use crate::samples::Rate;
use loci_test_postgres::{Build, Database, Postgres, Settings};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

const CLIENTS: usize = 64;
const CASES: [(usize, Stores); 4] = [
    (1, Stores::Each),
    (SERVERS_MAX, Stores::Each),
    (1, Stores::Shared),
    (SERVERS_MAX, Stores::Shared),
];
const COUNTING: &str = "create extension pg_stat_statements";
const FORGET: &str = "select pg_stat_statements_reset(); select pg_stat_reset_shared('wal')";
/// A connection with nothing to do hands in what it counted after ten seconds at the latest.
const COUNTED_AFTER: Duration = Duration::from_millis(10_500);
const TOLD_AFTER: Duration = Duration::from_millis(300);

/// One case: so many servers, and where the clients write.
pub(crate) struct Reason {
    pub(crate) servers: usize,
    pub(crate) stores: Stores,
    pub(crate) rate: Rate,
    pub(crate) creates: f64,
    /// The same while nothing is synced.
    pub(crate) unsynced: Rate,
    pub(crate) statements: Statements,
    pub(crate) log: Log,
    pub(crate) waits: Waits,
    pub(crate) processors: Processors,
    pub(crate) seconds: f64,
}

struct Watched<'a> {
    plan: &'a Plan,
    postgres: &'a Postgres,
    database: &'a Database,
    servers: &'a [Server],
}

pub(crate) fn run(plan: &Plan, directory: &Path) -> anyhow::Result<Vec<Reason>> {
    println!("PostgreSQL: where the time goes");
    let settings = Settings::durable()
        .with("shared_preload_libraries", "pg_stat_statements")
        .with("track_wal_io_timing", "on");
    let postgres = Postgres::start_with(Build::Floor, &settings)?;
    observed::execute(&postgres.url(), COUNTING)?;
    let database = Database::fresh_blocking(&postgres.url(), None)?;
    let servers = plain_servers(plan, &database, directory)?;
    let watched = Watched { plan, postgres: &postgres, database: &database, servers: &servers };
    watched.writes(SERVERS_MAX, Stores::Each, "warm")?;
    let reasons =
        CASES.into_iter().map(|(servers, stores)| watched.case(servers, stores)).collect();
    drop(servers);
    reasons
}

impl Watched<'_> {
    fn case(&self, servers: usize, stores: Stores) -> anyhow::Result<Reason> {
        let (url, name) = (self.postgres.url(), self.database.name());
        println!("  {servers} servers, {}", stores.name());
        observed::execute(&url, FORGET)?;
        let before = Processors::now(self.servers, self.postgres)?;
        let began = Instant::now();
        let writing = || self.writes(servers, stores, "synced");
        let (rate, waits) = observed::watched(&url, name, writing)?;
        let seconds = began.elapsed().as_secs_f64();
        let processors = Processors::now(self.servers, self.postgres)?.since(before);
        let statements = observed::statements(&url, name)?;
        std::thread::sleep(COUNTED_AFTER);
        let log = observed::log(&url)?;
        self.sync(false)?;
        let unsynced = self.writes(servers, stores, "unsynced");
        self.sync(true)?;
        let unsynced = unsynced?;
        println!("    {:.0} per second, {:.0} unsynced", rate.per_second, unsynced.per_second);
        let creates = rate.per_second * self.plan.seconds;
        Ok(Reason {
            servers,
            stores,
            rate,
            creates,
            unsynced,
            statements,
            log,
            waits,
            processors,
            seconds,
        })
    }

    fn writes(&self, servers: usize, stores: Stores, run: &str) -> anyhow::Result<Rate> {
        let addresses: Vec<SocketAddr> =
            self.servers.iter().take(servers).map(|server| server.address).collect();
        let stores = make_stores(addresses[0], stores, CLIENTS)?;
        load::spread(&addresses, CLIENTS, self.plan.seconds, creates(&stores, run))
    }

    fn sync(&self, is_on: bool) -> anyhow::Result<()> {
        let value = if is_on { "on" } else { "off" };
        let url = self.postgres.url();
        observed::execute(&url, &format!("alter system set fsync = {value}"))?;
        observed::execute(&url, "select pg_reload_conf()")?;
        std::thread::sleep(TOLD_AFTER);
        Ok(())
    }
}
