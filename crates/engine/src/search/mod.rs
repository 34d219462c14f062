//! Searching: who may find what is decided first, then the stores' indexes are brought up to date,
//! then both legs run and are put together.
//!
//! Indexes are derived and live in memory; each follows the feed of its store, so a write is found
//! by word by the very next search. Vectors are made in the background and are found as soon as
//! they are written; the answer says how far they reach.

mod asked;
mod cache;
mod duplicates;
mod follow;
mod in_place;
mod past;
mod reach;
mod run;
mod show;
mod stage;
mod state;

pub use duplicates::{DuplicateGroup, DuplicatesReport, DuplicatesRequest};
pub use follow::EmbeddingStatus;
pub use loci_search::embed;
pub use loci_search::text::TextQuery;
pub use loci_search::text::snippet::Snippet;
pub use loci_search::{Explanation, Fusion, Mode, Recency, SearchFilter, Signals, Span, Wanted};
pub use loci_storage::AsOf;
pub(crate) use past::{too_much_past, weight};
pub(crate) use state::News;
pub use state::SearchOptions;

pub(crate) use state::SearchState;

use loci_model::{Memory, MemoryId, StoreId, View};
use std::time::Duration;

/// Where to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// In one store; it must be there and searchable.
    Store(StoreId),
    /// In these; each must be there and searchable.
    Stores(Vec<StoreId>),
    /// In those of these that the caller may search.
    Among(Vec<StoreId>),
    /// In everything the caller may search.
    Everywhere,
}

impl Reach {
    /// Whether each store is asked for, so that one that cannot be searched is refused and not left
    /// out.
    pub(crate) fn is_named(&self) -> bool {
        matches!(self, Self::Store(_) | Self::Stores(_))
    }
}

/// For what to wait before searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Until vectors reach this feed number; `None` is everything written so far.
    pub until: Option<u64>,
    /// But no longer than this; then the search goes on with what is there.
    pub at_most: Duration,
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// Where.
    pub reach: Reach,
    /// What.
    pub wanted: Wanted,
    /// With content or without.
    pub view: View,
    /// Whether results say why they are where they are.
    pub explain: bool,
    /// Bytes of content after which results come without.
    pub content_bytes_max: usize,
    /// Characters of the snippets.
    pub snippet_chars: usize,
    /// Search the past instead of the present.
    pub as_of: Option<AsOf>,
    /// Wait for vectors first.
    pub wait: Option<Wait>,
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The memory, as it is now (or was, in a search of the past).
    pub memory: Memory,
    /// Comparable within one answer only.
    pub score: f32,
    /// Where in its text the query is.
    pub snippet: Snippet,
    /// Why it is here, if asked for.
    pub explanation: Option<Explanation>,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchAnswer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many results came without content because there was enough of it.
    pub contents_left_out: usize,
    /// Up to which feed number vectors reach, for those of the stores searched whose feed the
    /// caller may follow whole: the store asked for, or those with results.
    pub indexed_through: Vec<(StoreId, u64)>,
    /// Whether every memory searched has its vectors. Says nothing when the mode is lexical.
    pub is_complete: bool,
    /// How many memories searched have no vectors yet. Says nothing when the mode is lexical.
    pub unready: usize,
    /// Whether the query was compared by meaning: false when that was not asked for, when there is
    /// nobody to embed it, and when a model that should have did not answer.
    pub is_by_meaning: bool,
    /// How many stores were left out, because they may only be searched and were searched too
    /// often.
    pub left_out: usize,
    /// Memories that fit but whose contents are damaged; they are no results.
    pub damaged: Vec<(StoreId, MemoryId)>,
}
