//! How long search takes, in one store and across a thousand, as collections grow.
//!
//! The server is the real one, asked over loopback by one client at a time; it embeds each question
//! itself. Before each hybrid search the model embeds the same question alone, and in the same rounds
//! FTS5 and a scan answer by themselves, so that what is Loci's own can be told from what the machine
//! costs.

mod asking;
pub(crate) mod corpus;
pub(crate) mod cost;
pub(crate) mod filled;
mod growth;
pub(crate) mod meaning;
pub(crate) mod page;
mod raw;

use crate::child::Server;
use crate::measure::Plan;
use anyhow::{Context, ensure};
use asking::Asking;
use corpus::Corpus;
use cost::{Account, Cost, Worker};
use loci_search::embed::{Embedder, Purpose};
use loci_search::vector::{QueryVector, VectorMatrix};
use meaning::Meanings;
use std::path::Path;

const MANY_STORES: u64 = 1_000;
const QUERIES: u64 = 256;

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
    pub(crate) embedding: Cost,
    pub(crate) lexical: Cost,
    pub(crate) semantic: Cost,
    pub(crate) hybrid: Cost,
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
    pub(crate) fts: Cost,
    pub(crate) fts_texts_per_second: f64,
    pub(crate) scan: Cost,
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
    let (mut fts, mut scan) = (Account::default(), Account::default());
    let one_store = ask(Some(store)).measure(&one, |seconds, from| {
        let nth = |n: usize| (from + n) % questions.texts.len();
        fts.block(Worker::Own, seconds, |n| raw.fts.search(&questions.texts[nth(n)]).map(drop))?;
        let mut scores = Vec::new();
        scan.block(Worker::Own, seconds, |n| {
            let found = raw::nearest(&raw.matrix, &questions.vectors[nth(n)], &mut scores);
            ensure!(!found.is_empty(), "a scan found nothing");
            Ok(())
        })
    })?;
    let fts_texts_per_second = raw.fts.per_second;
    drop(raw);
    let many_stores = ask(None).measure(&many, |_, _| Ok(()))?;
    let raw = RawFigures { fts: fts.cost()?, fts_texts_per_second, scan: scan.cost()? };
    let size = SizeFigures { memories, one_store, many_stores, raw };
    println!("{}", page::in_short(&size));
    Ok(size)
}
