//! What a large store costs on PostgreSQL: a create, a rename and an append by one client in a store of
//! a hundred memories and in one of many, in alternation, and how long `loci move` of the many takes.
//! A statement that no index serves reads the whole store for each write, which no small store shows.

use crate::child::Server;
use crate::fill;
use crate::load::{self, request};
use crate::measure::{self, Figure, Plan};
use crate::postgres;
use crate::report;
use anyhow::Context;
use loci_model::StoreId;
use loci_test_postgres::{Build, Database, Postgres, Settings};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

const FEW: u64 = 100;
/// How much longer a write may take in the large store than in the small one.
const SLOWDOWN_MOST: f64 = 1.2;
/// Seconds that the move of a hundred thousand may take.
const MOVE_SECONDS_MOST: f64 = 30.0;
const NO_MODEL: &str = "[search]\nembedder = 'none'\n";

/// What was measured on one release of PostgreSQL.
pub(crate) struct ScaleFigures {
    /// What PostgreSQL calls itself.
    version: String,
    many: u64,
    move_seconds: f64,
    lines: Vec<Figure>,
}

pub(crate) fn run(plan: &Plan, scratch: &Path) -> anyhow::Result<Vec<ScaleFigures>> {
    let mut filled = Vec::new();
    for (name, count) in [("few", FEW), ("many", plan.scale)] {
        println!("filling a store with {count} memories");
        let data = scratch.join(name);
        drop(Server::loci_with(&plan.loci, &data, NO_MODEL)?);
        let store = fill::one_store(&data, count)?;
        filled.push((data, store));
    }
    [Build::Floor, Build::Current].into_iter().map(|build| on(plan, build, &filled)).collect()
}

fn on(plan: &Plan, build: Build, filled: &[(PathBuf, StoreId)]) -> anyhow::Result<ScaleFigures> {
    let server = Postgres::start_with(build, &Settings::durable())?;
    let version = postgres::one_text(&server.url(), "show server_version")?;
    let mut servers = Vec::new();
    let mut move_seconds = 0.0;
    for (data, store) in filled {
        let database = Database::fresh_blocking(&server.url(), None)?;
        let began = Instant::now();
        postgres::bring(plan, data, &database.url())?;
        // The last of them is the large one.
        move_seconds = began.elapsed().as_secs_f64();
        let server = Server::loci_on(&plan.loci, &database.url(), &data.with_extension("toml"))?;
        servers.push((server, store.to_string(), database));
    }
    println!("PostgreSQL {version}: {} memories moved in {move_seconds:.1} s", plan.scale);
    let mut lines = Vec::new();
    for work in [Work::Create, Work::Rename, Work::Append] {
        println!("{} among {} memories and among {FEW}", work.name(), plan.scale);
        let pairs = measure::alternate(plan.rounds, |round| {
            let mut rates = servers.iter().map(|(server, store, _)| {
                let make = work.requests(server, store, round)?;
                load::run(server.address, 1, plan.seconds, make)
            });
            let few = rates.next().context("two servers")??;
            let many = rates.next().context("two servers")??;
            Ok((many, few))
        })?;
        let name = format!("{} among {}, 1 client", work.name(), plan.scale);
        measure::push(&mut lines, &name, "among 100", Some(1.0 / SLOWDOWN_MOST), &pairs);
    }
    Ok(ScaleFigures { version, many: plan.scale, move_seconds, lines })
}

/// One kind of write.
#[derive(Clone, Copy)]
enum Work {
    Create,
    Rename,
    Append,
}

/// Writes the n-th request of a client.
type Requests = Box<dyn Fn(usize, u64) -> Vec<u8>>;

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Rename => "rename",
            Self::Append => "append by path",
        }
    }

    /// The requests of one round. What is renamed or appended to is made before.
    fn requests(self, server: &Server, store: &str, round: usize) -> anyhow::Result<Requests> {
        let base = format!("/v1/memory_stores/{store}");
        let path = format!("/scale/{}/{round}", self.name().replace(' ', "-"));
        let made = match self {
            Self::Create => String::new(),
            Self::Rename | Self::Append => {
                let body = format!(r#"{{"path":"{path}/first","content":"written first"}}"#);
                let answer = load::once(
                    server.address,
                    &request("POST", &format!("{base}/memories"), &body),
                )?;
                measure::id_of(&answer)?
            }
        };
        Ok(Box::new(move |_, n| match self {
            Self::Create => {
                let text = fill::text(n);
                let body = format!(r#"{{"path":"{path}/{n}","content":"{text}"}}"#);
                request("POST", &format!("{base}/memories"), &body)
            }
            Self::Rename => {
                let body = format!(r#"{{"path":"{path}/{n}"}}"#);
                request("POST", &format!("{base}/memories/{made}"), &body)
            }
            // As many bytes as a line of a log; a text that is full would be refused.
            Self::Append => {
                let path = format!("{path}/{}", n / 500);
                let edit = format!(r#"{{"op":"append","path":"{path}","text":"line {n}\n"}}"#);
                request("POST", &format!("{base}/edits"), &format!(r#"{{"edits":[{edit}]}}"#))
            }
        }))
    }
}

/// The tables.
pub(crate) fn tables(figures: &[ScaleFigures]) -> String {
    let mut text = String::new();
    for one in figures {
        let verdict = if one.move_seconds <= MOVE_SECONDS_MOST { "met" } else { "missed" };
        let _ = writeln!(
            text,
            "## PostgreSQL {}\n\n`loci move` of {} memories: {:.1} s (≤ {MOVE_SECONDS_MOST:.0} s for 100000: {verdict}).\n\n{}",
            one.version,
            one.many,
            one.move_seconds,
            report::lines(&one.lines),
        );
    }
    text
}

/// Writes the page.
pub(crate) fn write_page(figures: &[ScaleFigures], plan: &Plan, out: &Path) -> anyhow::Result<()> {
    let page = format!(
        "# Large stores on PostgreSQL\n\n\
         Made by `cargo xtask bench -- --only scale`. One client and one server write to a store of {FEW} memories and to one of {} \
         in alternation, {} times for {} s each, without a model; the ratio is the median. A write may take {SLOWDOWN_MOST} times as long \
         in the large store. The stores were written on SQLite and brought by `loci move`.\n\n{}",
        plan.scale,
        plan.rounds,
        plan.seconds,
        tables(figures),
    );
    std::fs::write(out.join("scale.md"), page).context("cannot write the page")
}
