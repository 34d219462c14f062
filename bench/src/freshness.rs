//! How soon a write is found by meaning, and what making vectors costs those who write.
//!
//! Somebody writes at a steady pace; somebody else takes the memory acknowledged last and searches
//! for its text by meaning until it is found. What is measured is what a caller sees, searching
//! included.

use crate::child::Server;
use crate::load::{self, Client, request};
use crate::measure::{self, Figure, Plan};
use crate::samples::{Rate, Samples};
use crate::search::corpus::Corpus;
use anyhow::{Context, bail};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WRITES_A_SECOND: u32 = 50;
/// Times the length of other measurements: 20 s unless told otherwise.
const LENGTHS: f64 = 20.0 / 3.0;
/// Whoever searches pauses so long after each look, so as not to take the machine for itself.
const PAUSE: Duration = Duration::from_millis(50);
/// After so long a memory counts as lost.
const LAG_MAX: Duration = Duration::from_secs(30);
const CLIENTS: usize = 64;
/// Times the rounds of other measurements: single rounds differ by more than what is looked for.
const ROUNDS: usize = 3;
/// The least rate of writes with a model, against none.
const RATE_LEAST: f64 = 0.85;
const NO_MODEL: &str = "[search]\nembedder = \"none\"\n";

/// What was measured.
pub(crate) struct FreshnessFigures {
    /// From the acknowledgement of a write to the answer that holds it.
    pub(crate) lag: Rate,
    /// How many writes were looked for.
    pub(crate) found: usize,
    pub(crate) writes_per_second: f64,
    pub(crate) seconds: f64,
    /// Writes with a model and without.
    pub(crate) writes: Vec<Figure>,
}

/// A write that was acknowledged.
struct Written {
    n: u64,
    at: Instant,
}

pub(crate) fn run(plan: &Plan, scratch: &Path) -> anyhow::Result<FreshnessFigures> {
    let seconds = plan.seconds * LENGTHS;
    println!("{WRITES_A_SECOND} writes a second, found by meaning");
    let server = Server::loci(&plan.loci, &scratch.join("fresh"))?;
    let store = measure::make_store(&server)?;
    let corpus = Corpus::new();
    let (samples, writes_per_second) = lag(server.address, &store, &corpus, seconds)?;
    drop(server);
    let found = samples.len();
    let lag = samples.rate()?;
    println!("  p50 {:.0} ms, p99 {:.0} ms", lag.p50_ms, lag.p99_ms);
    let mut writes = Vec::new();
    with_and_without(plan, scratch, &mut writes)?;
    Ok(FreshnessFigures { lag, found, writes_per_second, seconds, writes })
}

/// Writes on one thread and searches on another.
fn lag(
    address: SocketAddr,
    store: &str,
    corpus: &Corpus,
    seconds: f64,
) -> anyhow::Result<(Samples, f64)> {
    load_model(address, store, corpus)?;
    let newest = Mutex::new(None);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let written = write_steadily(address, store, corpus, seconds, &newest);
            is_over.store(true, Ordering::Relaxed);
            written
        });
        let samples = search_steadily(address, store, corpus, &newest, &is_over);
        let per_second = writer.join().expect("the writer reports errors as values")?;
        Ok((samples?, per_second))
    })
}

/// The first write and search load the model, once; everything after is what is measured.
fn load_model(address: SocketAddr, store: &str, corpus: &Corpus) -> anyhow::Result<()> {
    load::once(address, &write(store, corpus, 0))?;
    let first = serde_json::json!({"query": "anything", "mode": "semantic", "wait_for": "latest"});
    load::once(address, &request("POST", &search_target(store), &first.to_string()))?;
    Ok(())
}

/// Answers how many writes a second there really were.
fn write_steadily(
    address: SocketAddr,
    store: &str,
    corpus: &Corpus,
    seconds: f64,
    newest: &Mutex<Option<Written>>,
) -> anyhow::Result<f64> {
    let mut client = Client::open(address)?;
    let count = (seconds * f64::from(WRITES_A_SECOND)).ceil() as u32;
    let start = Instant::now();
    for n in 1..=count {
        let due = start + Duration::from_secs(1) * n / WRITES_A_SECOND;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        client.exchange(&write(store, corpus, u64::from(n)))?;
        let written = Written { n: u64::from(n), at: Instant::now() };
        *newest.lock().expect("nobody panics holding it") = Some(written);
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn search_steadily(
    address: SocketAddr,
    store: &str,
    corpus: &Corpus,
    newest: &Mutex<Option<Written>>,
    is_over: &AtomicBool,
) -> anyhow::Result<Samples> {
    let mut client = Client::open(address)?;
    let mut samples = Samples::default();
    let start = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let Some(wanted) = newest.lock().expect("nobody panics holding it").take() else {
            std::thread::sleep(PAUSE);
            continue;
        };
        let body = serde_json::json!({
            "query": corpus.text(wanted.n), "mode": "semantic", "view": "basic",
        });
        let search = request("POST", &search_target(store), &body.to_string());
        while !holds(&client.exchange(&search)?, &path(wanted.n))? {
            if wanted.at.elapsed() > LAG_MAX {
                bail!("a memory was not found by meaning within {} s", LAG_MAX.as_secs());
            }
            std::thread::sleep(PAUSE);
        }
        samples.push(wanted.at.elapsed());
        std::thread::sleep(PAUSE);
    }
    samples.took(start.elapsed());
    Ok(samples)
}

fn path(n: u64) -> String {
    format!("/fresh/note_{n:06}.md")
}

fn write(store: &str, corpus: &Corpus, n: u64) -> Vec<u8> {
    let body = serde_json::json!({"path": path(n), "content": corpus.text(n)});
    request("POST", &format!("/v1/memory_stores/{store}/memories"), &body.to_string())
}

fn search_target(store: &str) -> String {
    format!("/v1/memory_stores/{store}/search")
}

fn holds(answer: &str, path: &str) -> anyhow::Result<bool> {
    let answer: serde_json::Value = serde_json::from_str(answer)?;
    let found = answer["data"].as_array().context("an answer without data")?;
    Ok(found.iter().any(|memory| memory["path"] == path))
}

/// The writes of many clients, with vectors being made meanwhile and without.
fn with_and_without(plan: &Plan, scratch: &Path, lines: &mut Vec<Figure>) -> anyhow::Result<()> {
    println!("writes, {CLIENTS} clients, with a model and without");
    let pairs = measure::alternate(ROUNDS * plan.rounds, |round| {
        let directory = scratch.join(format!("fresh-{round}"));
        std::fs::create_dir(&directory)?;
        let rate = |server: Server| {
            let store = measure::make_store(&server)?;
            load::run(server.address, CLIENTS, plan.seconds, measure::create(&store, "f"))
        };
        let with = || {
            let server = Server::loci(&plan.loci, &directory.join("with"))?;
            load_model(server.address, &measure::make_store(&server)?, &Corpus::new())?;
            rate(server)
        };
        let without = || rate(Server::loci_with(&plan.loci, &directory.join("without"), NO_MODEL)?);
        // Neither always comes first: a disk may still be busy with what came before.
        if round.is_multiple_of(2) {
            let first = without()?;
            Ok((with()?, first))
        } else {
            Ok((with()?, without()?))
        }
    })?;
    let name = format!("create, {CLIENTS} clients, making vectors");
    measure::push(lines, &name, "create without a model", Some(RATE_LEAST), &pairs);
    Ok(())
}
