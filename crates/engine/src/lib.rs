//! The use cases of Loci: the only crate that combines storage, search and policy.
//!
//! Every door calls these functions and nothing below them. Each takes a [`Context`] (who asks, in
//! which request), asks policy for a pass, and hands the pass to storage. There is one write path:
//! [`Engine::commit`].
#![warn(missing_docs)]

mod access;
mod admin;
mod agents;
mod bootstrap;
mod changes;
pub mod codes;
mod commit;
mod context;
pub mod dump;
mod erase;
mod error;
mod events;
mod groups;
mod guard;
mod home;
mod keys;
mod principals;
mod read;
pub mod seam;
pub mod search;
mod secret;
mod sessions;
mod share;
mod stores;
mod sweep;
pub mod transfer;

pub use agents::Agent;
pub use bootstrap::FirstStart;
pub use changes::ChangePage;
pub use context::{Appended, Context, IdempotencyKey, Identified};
pub use error::{Error, NOT_THE_WRITER, SWITCHED_OFF};
pub use groups::Group;
pub use home::{HomeLimits, Purpose, Reached};
pub use keys::{DeclaredKey, NewKey};
pub use loci_storage::request::as_one_request;
pub use principals::NewPrincipal;
pub use secret::Secret;
pub use sessions::{NewAttachment, NewSession};
pub use share::NewGrant;
pub use stores::NewStore;
pub use sweep::SweepReport;

use guard::Guard;
use loci_storage::Storage;
use seam::Seams;
use search::{SearchOptions, SearchState};
use std::sync::Arc;
use std::time::Duration;

/// Shorthand for what engine calls return.
pub type Result<T> = std::result::Result<T, Error>;

/// The engine. Cheap to clone; holds no state of its own but indexes, which follow the feeds.
#[derive(Clone)]
pub struct Engine {
    storage: Arc<dyn Storage>,
    seams: Seams,
    search: Arc<SearchState>,
    guard: Arc<Guard>,
    homes: HomeLimits,
}

impl Engine {
    /// An engine over a storage, with the clock and randomness it shall use.
    pub fn new(storage: Arc<dyn Storage>, seams: Seams) -> Self {
        let search = Arc::new(SearchState::new(SearchOptions::default()));
        Self { storage, seams, search, guard: Arc::default(), homes: HomeLimits::default() }
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

    /// The same engine, letting whoever may only search a store do so this often a minute.
    #[must_use]
    pub fn with_guarded_searches(self, per_minute: u32) -> Self {
        Self { guard: Arc::new(Guard::new(per_minute)), ..self }
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

    /// Whether writes are being accepted; of a replica, whether it can be read.
    pub async fn ready(&self) -> Result<()> {
        Ok(self.storage.ready().await?)
    }
}
