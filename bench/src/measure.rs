//! What is measured, in which order.

use crate::append::{self, AppendFigure};
use crate::child::Server;
use crate::fill;
use crate::freshness::{self, FreshnessFigures};
use crate::load::{self, request};
use crate::postgres::{self, PostgresFigures};
use crate::raw;
use crate::samples::Rate;
use crate::scale::{self, ScaleFigures};
use crate::search::{self, SearchFigures};
use anyhow::Context;
use loci_model::{MemoryId, StoreId};
use std::path::{Path, PathBuf};

/// How much to do.
pub(crate) struct Plan {
    pub(crate) loci: PathBuf,
    pub(crate) large: u64,
    pub(crate) seconds: f64,
    /// Everything when empty.
    pub(crate) only: Vec<Part>,
    pub(crate) rounds: usize,
    /// Memories that are searched.
    pub(crate) sizes: Vec<u64>,
    /// Memories that are searched on PostgreSQL.
    pub(crate) filled: u64,
    /// Memories of the large store on PostgreSQL.
    pub(crate) scale: u64,
}

impl Plan {
    pub(crate) fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// Whether something is measured that the table of ratios shows.
    pub(crate) fn wants_ratios(&self) -> bool {
        [Part::Writes, Part::Reads, Part::Growth].into_iter().any(|part| self.wants(part))
    }
}

/// A part of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    Writes,
    Reads,
    Growth,
    Search,
    Freshness,
    Postgres,
    Append,
    Scale,
}

/// One line of the report.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    /// What it is compared with, and the median ratio of the alternations.
    pub(crate) ratio: Option<Ratio>,
}

pub(crate) struct Ratio {
    pub(crate) to: &'static str,
    pub(crate) value: f64,
    /// The least it should be, where a target is set.
    pub(crate) at_least: Option<f64>,
}

#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) lines: Vec<Figure>,
    /// Measured along with the lines.
    pub(crate) idle_bytes: u64,
    pub(crate) search: Option<SearchFigures>,
    pub(crate) freshness: Option<FreshnessFigures>,
    pub(crate) postgres: Option<PostgresFigures>,
    pub(crate) append: Vec<AppendFigure>,
    pub(crate) scale: Vec<ScaleFigures>,
}

const SMALL: u64 = 1_000;

pub(crate) fn run(plan: &Plan) -> anyhow::Result<Figures> {
    let scratch = tempfile::tempdir()?;
    let mut figures = Figures::default();
    if plan.wants_ratios() {
        figures.idle_bytes = idle(plan, &scratch.path().join("idle"))?;
    }
    if plan.wants(Part::Writes) {
        writes(plan, scratch.path(), &mut figures.lines)?;
    }
    if plan.wants(Part::Reads) {
        reads(plan, &scratch.path().join("reads"), &mut figures.lines)?;
    }
    if plan.wants(Part::Growth) {
        growth(plan, scratch.path(), &mut figures.lines)?;
    }
    if plan.wants(Part::Search) {
        figures.search = Some(search::run(plan, scratch.path())?);
    }
    if plan.wants(Part::Freshness) {
        figures.freshness = Some(freshness::run(plan, scratch.path())?);
    }
    if plan.wants(Part::Postgres) {
        figures.postgres = Some(postgres::run(plan, scratch.path())?);
    }
    if plan.wants(Part::Append) {
        figures.append = append::run(plan, scratch.path())?;
    }
    if plan.wants(Part::Scale) {
        figures.scale = scale::run(plan, scratch.path())?;
    }
    Ok(figures)
}

fn idle(plan: &Plan, data: &Path) -> anyhow::Result<u64> {
    let server = Server::loci(&plan.loci, data)?;
    load::once(server.address, &request("GET", "/v1/memory_stores", ""))?;
    std::thread::sleep(std::time::Duration::from_secs(2));
    server.resident_bytes()
}

fn writes(plan: &Plan, scratch: &Path, lines: &mut Vec<Figure>) -> anyhow::Result<()> {
    for clients in [1, 8, 64, 256] {
        println!("durable writes, {clients} clients");
        let pairs = alternate(plan.rounds, |round| {
            let directory = scratch.join(format!("writes-{clients}-{round}"));
            std::fs::create_dir(&directory)?;
            let ceiling = raw::run(&directory, clients, plan.seconds, fill::text)?;
            let server = Server::loci(&plan.loci, &directory.join("data"))?;
            let store = make_store(&server)?;
            let own = load::run(server.address, clients, plan.seconds, create(&store, "w"))?;
            Ok((own, ceiling))
        })?;
        let at_least = (clients == 64).then_some(0.6);
        push(lines, &format!("create, {clients} clients"), "raw group commit", at_least, &pairs);
    }
    Ok(())
}

fn reads(plan: &Plan, data: &Path, lines: &mut Vec<Figure>) -> anyhow::Result<()> {
    let server = Server::loci(&plan.loci, data)?;
    let store = make_store(&server)?;
    let mut memories = Vec::new();
    for n in 0..SMALL {
        let answer = load::once(server.address, &create(&store, "r")(0, n))?;
        memories.push(id_of(&answer)?);
    }
    let sample = get(&store, &memories[0]);
    let body = load::once(server.address, &sample)?;
    let echo = Server::echo()?;
    for (name, route) in [("JSON echo", "/json"), ("byte echo", "/bytes")] {
        println!("get against {name}");
        let (store, memories, body) = (&store, &memories, &body);
        let pairs = alternate(plan.rounds, |_| {
            let echoed = request("POST", route, body);
            let ceiling = load::run(echo.address, 64, plan.seconds, move |_, _| echoed.clone())?;
            let own = load::run(server.address, 64, plan.seconds, gets(store, memories))?;
            Ok((own, ceiling))
        })?;
        let at_least = (route == "/json").then_some(0.6);
        push(lines, "get, 64 clients", name, at_least, &pairs);
    }
    println!("lists");
    for (name, query) in
        [("list 20 of 1,000, basic", "limit=20"), ("list 20 of 1,000, full", "view=full")]
    {
        let target = format!("/v1/memory_stores/{store}/memories?{query}");
        let rate =
            load::run(server.address, 8, plan.seconds, move |_, _| request("GET", &target, ""))?;
        lines.push(Figure { name: format!("{name}, 8 clients"), rate, ratio: None });
    }
    Ok(())
}

fn growth(plan: &Plan, scratch: &Path, lines: &mut Vec<Figure>) -> anyhow::Result<()> {
    let mut servers = Vec::new();
    for (name, count) in [("small", SMALL), ("large", plan.large)] {
        println!("filling a data directory with {count} memories");
        let data = scratch.join(name);
        drop(Server::loci(&plan.loci, &data)?);
        let samples = fill::run(&data, count)?;
        let server = Server::loci(&plan.loci, &data)?;
        servers.push((server, samples));
    }
    let (large, small) = (servers.pop().context("two servers")?, servers.pop().context("two")?);
    println!("get and create, {} against {SMALL} memories", plan.large);
    let sampled = |samples: &[(StoreId, MemoryId)]| {
        let requests: Vec<Vec<u8>> =
            samples.iter().map(|(s, m)| get(&s.to_string(), &m.to_string())).collect();
        move |client: usize, n: u64| {
            requests[(client * 7919 + n as usize * 104_729) % requests.len()].clone()
        }
    };
    let pairs = alternate(plan.rounds, |_| {
        let few = load::run(small.0.address, 64, plan.seconds, sampled(&small.1))?;
        let many = load::run(large.0.address, 64, plan.seconds, sampled(&large.1))?;
        Ok((many, few))
    })?;
    let name = format!("get at {} memories, 64 clients", plan.large);
    push(lines, &name, "at 1,000", Some(1.0 / 1.5), &pairs);
    let pairs = alternate(plan.rounds, |round| {
        // Each round writes into a store of its own, or the small one would not stay small.
        let few = load::run(
            small.0.address,
            64,
            plan.seconds,
            create(&make_store(&small.0)?, &format!("g{round}")),
        )?;
        let many = load::run(
            large.0.address,
            64,
            plan.seconds,
            create(&make_store(&large.0)?, &format!("g{round}")),
        )?;
        Ok((many, few))
    })?;
    let name = format!("create at {} memories, 64 clients", plan.large);
    push(lines, &name, "at 1,000", Some(1.0 / 1.5), &pairs);
    Ok(())
}

/// Measures a pair several times over: (own, what it is compared with).
pub(crate) fn alternate(
    rounds: usize,
    mut pair: impl FnMut(usize) -> anyhow::Result<(Rate, Rate)>,
) -> anyhow::Result<Vec<(Rate, Rate)>> {
    (0..rounds).map(&mut pair).collect()
}

/// Keeps the round with the median ratio.
pub(crate) fn push(
    lines: &mut Vec<Figure>,
    name: &str,
    to: &'static str,
    at_least: Option<f64>,
    pairs: &[(Rate, Rate)],
) {
    let ratio = |pair: &(Rate, Rate)| pair.0.per_second / pair.1.per_second;
    let mut pairs = pairs.to_vec();
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let median = pairs[pairs.len() / 2];
    lines.push(Figure { name: to.to_owned(), rate: median.1, ratio: None });
    let value = ratio(&median);
    println!("  {:.0} of {:.0} per second: {value:.2}", median.0.per_second, median.1.per_second);
    lines.push(Figure {
        name: name.to_owned(),
        rate: median.0,
        ratio: Some(Ratio { to, value, at_least }),
    });
}

pub(crate) fn make_store(server: &Server) -> anyhow::Result<String> {
    let answer =
        load::once(server.address, &request("POST", "/v1/memory_stores", r#"{"name":"bench"}"#))?;
    id_of(&answer)
}

pub(crate) fn id_of(answer: &str) -> anyhow::Result<String> {
    let answer: serde_json::Value = serde_json::from_str(answer)?;
    Ok(answer["id"].as_str().context("answer without id")?.to_owned())
}

pub(crate) fn create(store: &str, run: &str) -> impl Fn(usize, u64) -> Vec<u8> + 'static {
    let target = format!("/v1/memory_stores/{store}/memories");
    let run = run.to_owned();
    move |client, n| {
        let text = fill::text(client as u64 * 1_000_003 + n);
        let body = format!(r#"{{"path":"/bench/{run}/{client}/{n}","content":"{text}"}}"#);
        request("POST", &target, &body)
    }
}

pub(crate) fn get(store: &str, memory: &str) -> Vec<u8> {
    request("GET", &format!("/v1/memory_stores/{store}/memories/{memory}"), "")
}

pub(crate) fn gets(store: &str, memories: &[String]) -> impl Fn(usize, u64) -> Vec<u8> + 'static {
    let requests: Vec<Vec<u8>> = memories.iter().map(|memory| get(store, memory)).collect();
    move |client, n| requests[(client * 7919 + n as usize * 104_729) % requests.len()].clone()
}
