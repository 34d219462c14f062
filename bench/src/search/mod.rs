//! How long search takes, in one store and across a thousand, as collections grow.
//!
//! The server is the real one, asked over loopback by one client at a time; it embeds each question
//! itself. Before each hybrid search the model embeds the same question alone, and in the same rounds
//! FTS5 and a scan answer by themselves, so that what is Loci's own can be told from what the machine
//! costs.

pub(crate) mod corpus;
mod filled;
mod growth;
mod meaning;
pub(crate) mod page;
mod raw;

use crate::child::Server;
use crate::load::{self, Client, request};
use crate::measure::Plan;
use crate::samples::{Rate, Samples, timed};
use anyhow::{Context, ensure};
use corpus::Corpus;
use loci_model::StoreId;
use loci_search::embed::{Embedder, Purpose};
use loci_search::vector::{QueryVector, VectorMatrix};
use meaning::Meanings;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

const MANY_STORES: u64 = 1_000;
const QUERIES: u64 = 256;
const RESULTS: usize = 10;
/// Questions asked of each sort before anything is measured.
const WARM_UP: usize = 16;
/// Blocks are shorter than those of other measurements: there are many of them.
const BLOCK_SHARE: f64 = 0.5;
/// Room for the indexes of a million memories, and time to load them in one request.
const SETTINGS: &str = "[limits]\nrequest_timeout_seconds = 900\n\n[search]\nmemory_mb = 16384\n";

/// Everything about search.
pub(crate) struct SearchFigures {
    /// Texts embedded a second in the background, on one thread.
    pub(crate) passages_per_second: f64,
    pub(crate) sizes: Vec<SizeFigures>,
}

/// One size of collection.
pub(crate) struct SizeFigures {
    pub(crate) memories: u64,
    pub(crate) one_store: StoreFigures,
    pub(crate) many_stores: StoreFigures,
    pub(crate) raw: RawFigures,
}

/// Searches of one layout.
pub(crate) struct StoreFigures {
    pub(crate) stores: u64,
    /// The model alone, on each question right before the hybrid search for it.
    pub(crate) embedding: Rate,
    pub(crate) lexical: Rate,
    pub(crate) semantic: Rate,
    pub(crate) hybrid: Rate,
    pub(crate) loading: Loading,
}

impl StoreFigures {
    /// What a hybrid search takes beyond embedding its question.
    pub(crate) fn beyond_embedding_ms(&self) -> f64 {
        self.hybrid.p50_ms - self.embedding.p50_ms
    }
}

/// The first searches after a start, which load the indexes.
pub(crate) struct Loading {
    pub(crate) by_word_seconds: f64,
    pub(crate) by_meaning_seconds: f64,
    pub(crate) idle_bytes: u64,
    pub(crate) loaded_bytes: u64,
    /// What the server says its indexes take.
    pub(crate) index_bytes: u64,
}

/// The same without a server.
pub(crate) struct RawFigures {
    pub(crate) fts: Rate,
    pub(crate) fts_texts_per_second: f64,
    pub(crate) scan: Rate,
}

/// The questions, in the forms they are asked in.
struct Questions {
    texts: Vec<String>,
    vectors: Vec<QueryVector>,
}

/// What answers without a server.
struct Raw {
    fts: raw::Fts,
    matrix: VectorMatrix,
}

/// The requests of each mode, by question.
struct Requests {
    lexical: Rc<Vec<Vec<u8>>>,
    semantic: Rc<Vec<Vec<u8>>>,
    hybrid: Rc<Vec<Vec<u8>>>,
}

/// How long the modes and their companions took in all rounds.
#[derive(Default)]
struct Rounds {
    lexical: Samples,
    semantic: Samples,
    embedding: Samples,
    hybrid: Samples,
    fts: Samples,
    scan: Samples,
}

pub(crate) fn run(plan: &Plan, scratch: &Path) -> anyhow::Result<SearchFigures> {
    let largest = *plan.sizes.last().context("no size to search at")?;
    let corpus = Corpus::new();
    println!("embedding some texts");
    let meanings = Meanings::new(&corpus, largest)?;
    println!("  {:.0} texts per second", meanings.per_second);
    let texts: Vec<String> = (0..QUERIES).map(|n| corpus.query(n)).collect();
    let mut vectors = Vec::with_capacity(texts.len());
    for text in &texts {
        let found = meanings.embedder.embed(&[text], Purpose::Query)?;
        vectors.extend(found.iter().map(|vector| QueryVector::new(vector)));
    }
    let questions = Questions { texts, vectors };
    let mut sizes = Vec::new();
    for memories in &plan.sizes {
        let directory = scratch.join(format!("search-{memories}"));
        std::fs::create_dir(&directory)?;
        sizes.push(one_size(plan, &directory, *memories, &corpus, &meanings, &questions)?);
        std::fs::remove_dir_all(directory)?;
    }
    Ok(SearchFigures { passages_per_second: meanings.per_second, sizes })
}

fn one_size(
    plan: &Plan,
    directory: &Path,
    memories: u64,
    corpus: &Corpus,
    meanings: &Meanings,
    questions: &Questions,
) -> anyhow::Result<SizeFigures> {
    println!("search: filling two data directories with {memories} memories");
    let (one, many) = (directory.join("one"), directory.join("many"));
    drop(Server::loci(&plan.loci, &one)?);
    drop(Server::loci(&plan.loci, &many)?);
    let fill = |data: &Path, stores: u64| filled::fill(data, memories, stores, corpus, meanings);
    let store = std::thread::scope(|scope| {
        let other = scope.spawn(|| fill(&many, MANY_STORES.min(memories)));
        let stores = fill(&one, 1)?;
        other.join().expect("filling reports errors as values")?;
        stores.first().copied().context("no store was filled")
    })?;
    println!("  the same texts into FTS5, the same vectors into rows");
    let raw = Raw {
        fts: raw::Fts::new(&directory.join("words.db"), memories, corpus)?,
        matrix: raw::matrix(memories, meanings),
    };
    let ask = |store| Asking { plan, memories, meanings, questions, store };
    let (one_store, rounds) = ask(Some(store)).measure(&one, Some(&raw))?;
    let fts_texts_per_second = raw.fts.per_second;
    drop(raw);
    let (many_stores, _) = ask(None).measure(&many, None)?;
    let raw =
        RawFigures { fts: rounds.fts.rate()?, fts_texts_per_second, scan: rounds.scan.rate()? };
    let size = SizeFigures { memories, one_store, many_stores, raw };
    println!("{}", page::in_short(&size));
    Ok(size)
}

/// One layout of one size.
struct Asking<'a> {
    plan: &'a Plan,
    memories: u64,
    meanings: &'a Meanings,
    questions: &'a Questions,
    /// Every store when there is none.
    store: Option<StoreId>,
}

impl Asking<'_> {
    fn measure(&self, data: &Path, raw: Option<&Raw>) -> anyhow::Result<(StoreFigures, Rounds)> {
        println!("  {}", if raw.is_some() { "in one store" } else { "across stores" });
        let server = Server::loci_with(&self.plan.loci, data, SETTINGS)?;
        let loading = self.load(&server)?;
        let of = |mode: &str| {
            let texts = self.questions.texts.iter();
            Rc::new(texts.map(|text| self.question(text, mode)).collect::<Vec<_>>())
        };
        let requests =
            Requests { lexical: of("lexical"), semantic: of("semantic"), hybrid: of("hybrid") };
        for requests in [&requests.lexical, &requests.semantic, &requests.hybrid] {
            for request in requests.iter().take(WARM_UP) {
                load::once(server.address, request)?;
            }
        }
        let mut rounds = Rounds::default();
        for round in 0..self.plan.rounds {
            self.round(round, &server, &requests, raw, &mut rounds)?;
        }
        let figures = StoreFigures {
            stores: if self.store.is_some() { 1 } else { MANY_STORES.min(self.memories) },
            embedding: rounds.embedding.clone().rate()?,
            lexical: rounds.lexical.clone().rate()?,
            semantic: rounds.semantic.clone().rate()?,
            hybrid: rounds.hybrid.clone().rate()?,
            loading,
        };
        Ok((figures, rounds))
    }

    /// Everything once, one after the other; each round begins with another question.
    fn round(
        &self,
        round: usize,
        server: &Server,
        requests: &Requests,
        raw: Option<&Raw>,
        to: &mut Rounds,
    ) -> anyhow::Result<()> {
        let seconds = self.plan.seconds * BLOCK_SHARE;
        let Questions { texts, vectors } = self.questions;
        let from = round * texts.len() / self.plan.rounds;
        let nth = |n: usize| (from + n) % texts.len();
        for (samples, requests) in
            [(&mut to.lexical, &requests.lexical), (&mut to.semantic, &requests.semantic)]
        {
            let requests = Rc::clone(requests);
            samples.extend(load::samples(server.address, 1, seconds, move |_, n| {
                requests[(from + n as usize) % requests.len()].clone()
            })?);
        }
        let mut client = Client::open(server.address)?;
        let end = Instant::now() + Duration::from_secs_f64(2.0 * seconds);
        for n in (0..).map(nth).take_while(|_| Instant::now() < end) {
            to.embedding.time(|| self.meanings.embedder.embed(&[&texts[n]], Purpose::Query))?;
            to.hybrid.time(|| client.exchange(&requests.hybrid[n]).map(drop))?;
        }
        let Some(raw) = raw else { return Ok(()) };
        to.fts.extend(timed(seconds, |n| raw.fts.search(&texts[nth(n)]).map(drop))?);
        let mut scores = Vec::new();
        to.scan.extend(timed(seconds, |n| {
            let found = raw::nearest(&raw.matrix, &vectors[nth(n)], &mut scores);
            ensure!(!found.is_empty(), "a scan found nothing");
            Ok(())
        })?);
        Ok(())
    }

    /// Asks for the first time, by word and then by meaning.
    fn load(&self, server: &Server) -> anyhow::Result<Loading> {
        let status = || load::once(server.address, &request("GET", "/v1/embedding", ""));
        status()?;
        let idle_bytes = server.resident_bytes()?;
        let by_word_seconds = self.first(server, "lexical")?;
        let by_meaning_seconds = self.first(server, "hybrid")?;
        let status: serde_json::Value = serde_json::from_str(&status()?)?;
        Ok(Loading {
            by_word_seconds,
            by_meaning_seconds,
            idle_bytes,
            loaded_bytes: server.resident_bytes()?,
            index_bytes: status["index_bytes"].as_u64().context("no index_bytes")?,
        })
    }

    fn first(&self, server: &Server, mode: &str) -> anyhow::Result<f64> {
        let start = Instant::now();
        let answer = load::once(server.address, &self.question(&self.questions.texts[0], mode))?;
        let seconds = start.elapsed().as_secs_f64();
        let answer: serde_json::Value = serde_json::from_str(&answer)?;
        let found = answer["data"].as_array().map_or(0, Vec::len);
        ensure!(found == RESULTS.min(self.memories as usize), "{mode} found {found}");
        let is_complete = mode == "lexical" || answer["is_complete"] == true;
        ensure!(is_complete, "the vectors that were put in are not all there");
        Ok(seconds)
    }

    fn question(&self, text: &str, mode: &str) -> Vec<u8> {
        let target = match self.store {
            Some(store) => format!("/v1/memory_stores/{store}/search"),
            None => "/v1/search".to_owned(),
        };
        let body = serde_json::json!({"query": text, "mode": mode, "limit": RESULTS});
        request("POST", &target, &body.to_string())
    }
}
