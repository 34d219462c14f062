//! Two builds of the binary beside each other: durable creates, reads and hybrid searches, in
//! alternation on data directories of their own, and what each costs in processor time. Decides
//! whether the quick build (profile `release`) is close enough to the packaged one (`dist`).

use crate::child::Server;
use crate::load::{self, request};
use crate::measure::{create, gets, id_of, make_store};
use crate::search::corpus::Corpus;
use crate::search::cost::Worker;
use crate::search::filled;
use crate::search::meaning::Meanings;
use anyhow::Context;
use std::path::{Path, PathBuf};

/// Memories that are read.
const READ: u64 = 1_000;
/// Questions that are asked in turn.
const QUESTIONS: u64 = 256;
/// Clients of each sort of work; a search keeps a core busy by itself.
const WORKS: [(&str, usize); 3] = [("create", 64), ("get", 64), ("hybrid search", 2)];

/// What to compare.
#[derive(clap::Args)]
pub(crate) struct BuildsPlan {
    /// The binary that is judged
    #[arg(long)]
    own: PathBuf,
    /// The binary that it is compared with
    #[arg(long)]
    other: PathBuf,
    /// Memories that are searched
    #[arg(long, default_value_t = 100_000)]
    memories: u64,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Alternations
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// One build at work.
struct Side {
    server: Server,
    store: String,
    memories: Vec<String>,
    questions: Vec<Vec<u8>>,
}

/// A rate and its price.
#[derive(Clone, Copy)]
struct Measured {
    per_second: f64,
    micros: f64,
}

/// Measures and prints a table: for each sort of work the round with the median ratio.
pub(crate) fn run(plan: &BuildsPlan) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let corpus = Corpus::new();
    let meanings = Meanings::new(&corpus, plan.memories)?;
    let side = |binary: &Path, name: &str| {
        let data = scratch.path().join(name);
        drop(Server::loci(binary, &data)?);
        filled::fill(&data, plan.memories, 1, &corpus, &meanings)?;
        Side::start(binary, &data, &corpus)
    };
    let (own, other) = (side(&plan.own, "own")?, side(&plan.other, "other")?);
    println!(
        "| work | rate | compared with | ratio | processor time each | compared with | ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (work, clients) in WORKS {
        let mut pairs = Vec::new();
        for round in 0..plan.rounds {
            let of = |side: &Side| side.measure(work, clients, plan.seconds, round);
            // Who goes first changes from round to round.
            pairs.push(if round % 2 == 0 {
                (of(&own)?, of(&other)?)
            } else {
                let second = of(&other)?;
                (of(&own)?, second)
            });
        }
        print_median(work, clients, pairs);
    }
    for (name, binary) in [("binary", &plan.own), ("compared with", &plan.other)] {
        println!("{name}: {:.1} MB", std::fs::metadata(binary)?.len() as f64 / 1e6);
    }
    Ok(())
}

fn print_median(work: &str, clients: usize, mut pairs: Vec<(Measured, Measured)>) {
    let rate = |(own, other): &(Measured, Measured)| own.per_second / other.per_second;
    pairs.sort_by(|one, two| rate(one).total_cmp(&rate(two)));
    let (own, other) = pairs[pairs.len() / 2];
    println!(
        "| {work}, {clients} clients | {:.0}/s | {:.0}/s | {:.2} | {:.0} µs | {:.0} µs | {:.2} |",
        own.per_second,
        other.per_second,
        own.per_second / other.per_second,
        own.micros,
        other.micros,
        own.micros / other.micros,
    );
}

impl Side {
    fn start(binary: &Path, data: &Path, corpus: &Corpus) -> anyhow::Result<Self> {
        let server = Server::loci(binary, data)?;
        let store = make_store(&server)?;
        let mut memories = Vec::new();
        for n in 0..READ {
            memories.push(id_of(&load::once(server.address, &create(&store, "r")(0, n))?)?);
        }
        let question = |n: u64| {
            let body = serde_json::json!({"query": corpus.query(n), "limit": 10, "mode": "hybrid"});
            request("POST", "/v1/search", &body.to_string())
        };
        let questions: Vec<Vec<u8>> = (0..QUESTIONS).map(question).collect();
        // The first searches load the index and the model.
        for question in questions.iter().take(8) {
            load::once(server.address, question)?;
        }
        Ok(Self { server, store, memories, questions })
    }

    fn measure(
        &self,
        work: &str,
        clients: usize,
        seconds: f64,
        round: usize,
    ) -> anyhow::Result<Measured> {
        let (process, address) = (Worker::Other(self.server.id()), self.server.address);
        let before = process.processor_seconds()?;
        let rate = match work {
            "create" => {
                let store = make_store(&self.server)?;
                load::run(address, clients, seconds, create(&store, &format!("c{round}")))?
            }
            "get" => load::run(address, clients, seconds, gets(&self.store, &self.memories))?,
            _ => {
                let questions = self.questions.clone();
                let nth = move |client: usize, n: u64| {
                    questions[(client * 97 + n as usize) % questions.len()].clone()
                };
                load::run(address, clients, seconds, nth)?
            }
        };
        let spent = process.processor_seconds()? - before;
        let answered = rate.per_second * seconds;
        let micros = (answered > 0.0).then(|| spent * 1e6 / answered);
        Ok(Measured {
            per_second: rate.per_second,
            micros: micros.context("nothing was answered")?,
        })
    }
}
