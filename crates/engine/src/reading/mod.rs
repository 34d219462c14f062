//! The optional extractor: a model that reads what rules leave. Off unless the operator names one.
//!
//! It reads in the background, after a memory was written, in the stores that were named; what it
//! found is kept as rows that follow the feed, for asking costs money. It is trusted less than the
//! rules: what it says is held to the text when it comes and at every use
//! ([`loci_knowledge::told`]), and it is forgotten by name. What is sealed or internal is never given
//! to it, and nobody's write waits for it or fails with it.

mod budget;
mod follow;
mod forget;
mod format;

pub use follow::Round;
pub use forget::ReadingStatus;
pub use format::{Reply, parse_reply};
pub use loci_knowledge::claim::Utterance;
pub use loci_knowledge::told::{FACTS_MAX, NAME_BYTES_MAX, QUOTE_BYTES_MAX, SPEAKER, Told, Unfit};

pub(crate) use format::kept;

use loci_model::StoreId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bytes of a text that are given to a reader; the rest is left to the rules.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;

/// Something that reads texts at a price. Waits on the thread it is called on.
pub trait Reader: Send + Sync + 'static {
    /// What its facts are marked with, such as `anthropic:claude-x`.
    fn name(&self) -> &str;

    /// How many tokens reading so many bytes takes at most.
    fn tokens_max(&self, bytes: usize) -> u64;

    /// How long one call of [`Self::read`] takes at most.
    fn patience(&self) -> Duration;

    /// Reads one text with at most so many requests.
    fn read(&self, text: &Utterance<'_>, requests_max: u32) -> Asked;
}

/// What came of asking a reader.
#[derive(Debug)]
pub struct Asked {
    /// Requests that were made.
    pub requests: u32,
    /// Tokens that they took.
    pub tokens: u64,
    /// What it said.
    pub reply: Result<Reply, Unanswered>,
}

/// Why a reader said nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// In fixed words: never the endpoint's own.
    pub why: String,
    /// How long it wants to be left alone, if it said.
    pub wait: Option<Duration>,
}

/// Who reads, where, and for how much.
pub struct ReadingOptions {
    /// Who.
    pub reader: Arc<dyn Reader>,
    /// In which stores; `None` in all.
    pub stores: Option<Vec<StoreId>>,
    /// Requests in one day, counted in UTC.
    pub requests_per_day: u64,
    /// Tokens in one day.
    pub tokens_per_day: u64,
}

/// A reader at work.
pub(crate) struct Reading {
    pub(crate) options: ReadingOptions,
    counts: Counts,
}

impl Reading {
    pub(crate) fn new(options: ReadingOptions) -> Self {
        Self { options, counts: Counts::default() }
    }
}

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    tokens: AtomicU64,
    texts: AtomicU64,
    failures: AtomicU64,
    given_up: AtomicU64,
    facts: AtomicU64,
    unfit: [AtomicU64; Unfit::ALL.len()],
}

impl Counts {
    fn drop_as(&self, unfit: Unfit, times: u64) {
        let at = Unfit::ALL.iter().position(|one| *one == unfit);
        if let Some(count) = at.and_then(|at| self.unfit.get(at)) {
            count.fetch_add(times, Ordering::Relaxed);
        }
    }
}

/// What a reader did in this process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadingCounts {
    /// Requests made.
    pub requests: u64,
    /// Tokens they took.
    pub tokens: u64,
    /// Texts that were read.
    pub texts: u64,
    /// Times that a text was not answered for.
    pub failures: u64,
    /// Texts left to the rules because the reader answers for others but not for them.
    pub given_up: u64,
    /// Facts that were kept.
    pub facts: u64,
    /// Facts that were dropped, by why.
    pub unfit: Vec<(&'static str, u64)>,
}

impl crate::Engine {
    /// What the reader did in this process; `None` when there is none.
    pub fn reading_counts(&self) -> Option<ReadingCounts> {
        let counts = &self.reading.as_ref()?.counts;
        let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let unfit = Unfit::ALL.iter().zip(&counts.unfit);
        Some(ReadingCounts {
            requests: get(&counts.requests),
            tokens: get(&counts.tokens),
            texts: get(&counts.texts),
            failures: get(&counts.failures),
            given_up: get(&counts.given_up),
            facts: get(&counts.facts),
            unfit: unfit.map(|(unfit, count)| (unfit.name(), get(count))).collect(),
        })
    }
}
