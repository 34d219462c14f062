//! Two builds of the binary beside each other: durable creates, reads and hybrid searches, in
//! alternation on data directories of their own, and what each costs in processor time. Decides
//! whether the quick build (profile `release`) is close enough to the packaged one (`dist`), and
//! whether a change made requests dearer: each ratio has the interval that 95 of 100 such runs hit.

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
/// The width of an interval in standard errors, for about ten alternations.
const ERRORS_WIDE: f64 = 2.26;

/// One sort of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    Create,
    Get,
    Search,
}

impl Work {
    const ALL: [Self; 3] = [Self::Create, Self::Get, Self::Search];

    fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Get => "get",
            Self::Search => "hybrid search",
        }
    }

    /// How many ask at once; a search keeps a core busy by itself.
    fn clients(self) -> usize {
        match self {
            Self::Create | Self::Get => 64,
            Self::Search => 2,
        }
    }
}

/// What to compare.
#[derive(clap::Args)]
pub(crate) struct BuildsPlan {
    /// The binary that is judged
    #[arg(long)]
    own: PathBuf,
    /// The binary that it is compared with
    #[arg(long)]
    other: PathBuf,
    /// Only these sorts of work. An older build has no data directory to search in
    #[arg(long, value_delimiter = ',', default_values_t = Work::ALL, value_enum)]
    works: Vec<Work>,
    /// Memories that are searched
    #[arg(long, default_value_t = 100_000)]
    memories: u64,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Alternations
    #[arg(long, default_value_t = 10)]
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
    // Vectors of so many memories take minutes to make.
    let searched = plan.works.contains(&Work::Search).then_some(plan.memories);
    let meanings = searched.map(|memories| Meanings::new(&corpus, memories)).transpose()?;
    let side = |binary: &Path, name: &str| {
        let data = scratch.path().join(name);
        if let Some(meanings) = &meanings {
            drop(Server::loci(binary, &data)?);
            filled::fill(&data, plan.memories, 1, &corpus, meanings)?;
        }
        Side::start(binary, &data, &corpus, meanings.is_some())
    };
    let (own, other) = (side(&plan.own, "own")?, side(&plan.other, "other")?);
    println!(
        "| work | rate | compared with | ratio | interval | processor time each | compared with | ratio | interval |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for work in plan.works.iter().copied() {
        let mut pairs = Vec::new();
        for round in 0..plan.rounds {
            let of = |side: &Side| side.measure(work, plan.seconds, round);
            // Who goes first changes from round to round.
            pairs.push(if round % 2 == 0 {
                (of(&own)?, of(&other)?)
            } else {
                let second = of(&other)?;
                (of(&own)?, second)
            });
        }
        print_medians(work, &pairs);
    }
    for (name, binary) in [("binary", &plan.own), ("compared with", &plan.other)] {
        println!("{name}: {:.1} MB", std::fs::metadata(binary)?.len() as f64 / 1e6);
    }
    Ok(())
}

fn print_medians(work: Work, pairs: &[(Measured, Measured)]) {
    let (rate, price) = (
        compared(pairs, |measured| measured.per_second),
        compared(pairs, |measured| measured.micros),
    );
    let (name, clients) = (work.name(), work.clients());
    println!(
        "| {name}, {clients} clients | {:.0}/s | {:.0}/s | {:.2} | {:.2}–{:.2} | {:.1} µs | {:.1} µs | {:.2} | {:.2}–{:.2} |",
        rate.own,
        rate.other,
        rate.own / rate.other,
        rate.interval.0,
        rate.interval.1,
        price.own,
        price.other,
        price.own / price.other,
        price.interval.0,
        price.interval.1,
    );
}

/// The round with the median ratio, and the interval of the ratio.
struct Compared {
    own: f64,
    other: f64,
    interval: (f64, f64),
}

fn compared(pairs: &[(Measured, Measured)], figure: impl Fn(&Measured) -> f64) -> Compared {
    let mut pairs: Vec<(f64, f64)> =
        pairs.iter().map(|(own, other)| (figure(own), figure(other))).collect();
    pairs.sort_by(|one, two| (one.0 / one.1).total_cmp(&(two.0 / two.1)));
    let (own, other) = pairs[pairs.len() / 2];
    // Of the logarithms: twice as much and half as much are as far from the same.
    let logs: Vec<f64> = pairs.iter().map(|(own, other)| (own / other).ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let wide = ERRORS_WIDE * (variance / count).sqrt();
    Compared { own, other, interval: ((mean - wide).exp(), (mean + wide).exp()) }
}

impl Side {
    fn start(
        binary: &Path,
        data: &Path,
        corpus: &Corpus,
        is_searched: bool,
    ) -> anyhow::Result<Self> {
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
        for question in questions.iter().take(if is_searched { 8 } else { 0 }) {
            load::once(server.address, question)?;
        }
        Ok(Self { server, store, memories, questions })
    }

    fn measure(&self, work: Work, seconds: f64, round: usize) -> anyhow::Result<Measured> {
        let (process, address) = (Worker::Other(self.server.id()), self.server.address);
        let before = process.processor_seconds()?;
        let clients = work.clients();
        let rate = match work {
            Work::Create => {
                let store = make_store(&self.server)?;
                load::run(address, clients, seconds, create(&store, &format!("c{round}")))?
            }
            Work::Get => load::run(address, clients, seconds, gets(&self.store, &self.memories))?,
            Work::Search => {
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
