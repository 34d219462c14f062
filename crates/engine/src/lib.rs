//! The use cases of Loci: the only crate that combines storage, search and policy.
//!
//! Every door calls these functions and nothing below them. Each takes a [`Context`] (who asks, in
//! which request), asks policy for a pass, and hands the pass to storage. There is one write path:
//! [`Engine::commit`].
#![warn(missing_docs)]

mod access;
mod admin;
mod agents;
mod allowance;
mod authors;
mod bootstrap;
pub mod brief;
mod changes;
pub mod codes;
mod commit;
pub mod compact;
mod compute;
mod console;
mod context;
mod damage;
mod derived;
pub mod documents;
pub mod dump;
mod erase;
mod error;
mod events;
mod explain;
mod groups;
mod guard;
mod history;
mod home;
mod hygiene;
mod keys;
pub mod knowledge;
mod live;
mod names;
mod newcomers;
mod onward;
mod overview;
mod place;
mod principals;
mod read;
pub mod reading;
mod recalls;
mod revert;
pub mod seam;
pub mod search;
mod secret;
mod secrets;
mod series;
mod sessions;
mod share;
mod sift;
mod stores;
mod sweep;
pub mod transfer;
mod turns;
mod visit;

pub use agents::Agent;
pub use allowance::VisitorLimits;
pub use authors::Authors;
pub use bootstrap::{ClockBehind, FirstStart};
pub use changes::{ChangePage, Waiting};
pub use console::{SignedIn, made_in};
pub use context::{Appended, Context, IdempotencyKey, Identified};
pub use erase::{Erased, RedactionLine, RedactionPlan};
pub use error::{EXCEEDS_GIVER, Error, NOT_THE_WRITER, SWITCHED_OFF};
pub use explain::{AccessReport, Reacher};
pub use groups::Group;
pub use history::HistoryQuery;
pub use home::{HomeLimits, Purpose, Reached};
pub use hygiene::{Check, Finding, Findings};
pub use keys::{DeclaredKey, NewKey};
pub use live::{Live, LiveEvent};
pub use loci_storage::CopyHold;
pub use loci_storage::request::{as_one_request, damaged};
pub use names::{NAMES_MAX, Named, Sort};
pub use overview::{DAYS, StoreGlance, StoreNumbers};
pub use place::Place;
pub use principals::NewPrincipal;
pub use recalls::RecallCount;
pub use revert::{RevertAction, RevertRequest, RevertState, RevertStep};
pub use secret::Secret;
pub use secrets::Suspect;
pub use series::{Growth, STEPS, Series};
pub use sessions::{NewAttachment, NewSession};
pub use share::{NOT_THE_GIVER, NewGrant, Shared};
pub use sift::Sieve;
pub use stores::NewStore;
pub use sweep::SweepReport;
pub use turns::Turn;
pub use visit::Visit;

use allowance::Allowance;
use compact::{Summarizer, Watch};
use guard::Guard;
use loci_model::Timestamp;
use loci_storage::Storage;
use newcomers::Newcomers;
use reading::{Reading, ReadingOptions};
use seam::Seams;
use search::{SearchOptions, SearchState};
use std::sync::Arc;
use std::time::Duration;
use turns::Turns;

/// Shorthand for what engine calls return.
pub type Result<T> = std::result::Result<T, Error>;

/// The engine. Cheap to clone; holds no state of its own but indexes, which follow the feeds, and
/// who waits for whom.
#[derive(Clone)]
pub struct Engine {
    storage: Arc<dyn Storage>,
    seams: Seams,
    search: Arc<SearchState>,
    guard: Arc<Guard>,
    newcomers: Arc<Newcomers>,
    allowance: Arc<Allowance>,
    turns: Arc<Turns>,
    homes: HomeLimits,
    compaction: Arc<Watch>,
    summarizer: Option<Arc<dyn Summarizer>>,
    reading: Option<Arc<Reading>>,
    glances: Arc<overview::Glances>,
    views: Arc<events::Views>,
    pasts: Arc<sift::Pasts>,
    recalls: Arc<recalls::Recalls>,
    /// Since when it counts.
    began: Timestamp,
}

impl Engine {
    /// An engine over a storage, with the clock and randomness it shall use.
    pub fn new(storage: Arc<dyn Storage>, seams: Seams) -> Self {
        let search = Arc::new(SearchState::new(SearchOptions::default()));
        let began = seams.now();
        Self {
            storage,
            seams,
            search,
            guard: Arc::default(),
            newcomers: Arc::default(),
            allowance: Arc::default(),
            turns: Arc::default(),
            homes: HomeLimits::default(),
            compaction: Arc::default(),
            summarizer: None,
            reading: None,
            glances: Arc::default(),
            views: Arc::default(),
            pasts: Arc::default(),
            recalls: Arc::default(),
            began,
        }
    }

    /// The same engine, searching as told. Not for an engine that was cloned before: indexes and
    /// signals are not shared with its clones.
    #[must_use]
    pub fn with_search(self, options: SearchOptions) -> Self {
        Self { search: Arc::new(SearchState::new(options)), ..self }
    }

    /// The same engine, making homes as told.
    #[must_use]
    pub fn with_homes(self, homes: HomeLimits) -> Self {
        Self { homes, ..self }
    }

    /// The same engine, having summaries written instead of quoting the sources.
    #[must_use]
    pub fn with_summarizer(self, summarizer: Arc<dyn Summarizer>) -> Self {
        Self { summarizer: Some(summarizer), ..self }
    }

    /// The same engine, having a reader read along.
    #[must_use]
    pub fn with_reader(self, options: ReadingOptions) -> Self {
        Self { reading: Some(Arc::new(Reading::new(options))), ..self }
    }

    /// The same engine, letting whoever may only search a store do so this often a minute, and have
    /// so many different memories of it a day.
    #[must_use]
    pub fn with_guarded_searches(self, per_minute: u32, memories_per_day: u32) -> Self {
        Self { guard: Arc::new(Guard::new(per_minute, memories_per_day)), ..self }
    }

    /// The same engine, taking so many visitors a day whom nobody has heard of, and so much from
    /// each. Not for an engine that was cloned before: its clones count for themselves.
    #[must_use]
    pub fn with_visitors(self, limits: VisitorLimits) -> Self {
        let newcomers = self.newcomers.with_visitors(limits.new_per_day);
        Self { newcomers: Arc::new(newcomers), allowance: Arc::new(Allowance::new(limits)), ..self }
    }

    /// The same engine, making so many agents a day that nobody has heard of because a token names
    /// them. Not for one that was cloned before, either.
    #[must_use]
    pub fn with_new_agents(self, per_day: u32) -> Self {
        Self { newcomers: Arc::new(self.newcomers.with_agents(per_day)), ..self }
    }

    /// Where time and randomness come from.
    pub fn seams(&self) -> &Seams {
        &self.seams
    }

    /// Whether this engine reads a replica: what it shows may be behind, and it takes no writes.
    pub fn is_replica(&self) -> bool {
        self.storage.is_replica()
    }

    /// How far a replica is behind, as far as it can tell.
    pub async fn lag(&self) -> Option<Duration> {
        self.storage.lag().await
    }

    /// Refuses writes on a replica before anything is looked at: what it knows may be old, so
    /// neither a refusal nor a precondition may rest on it.
    pub(crate) fn require_primary(&self) -> Result<()> {
        if self.storage.is_replica() { Err(Error::Replica) } else { Ok(()) }
    }

    /// Whether the disk had no room for the last write that needed any.
    pub fn is_disk_full(&self) -> bool {
        self.storage.is_full()
    }

    /// Whether writes are being accepted; of a replica, whether it can be read.
    pub async fn ready(&self) -> Result<()> {
        Ok(self.storage.ready().await?)
    }
}
