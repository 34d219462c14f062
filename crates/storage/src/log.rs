//! A store as its history: enough to rebuild it elsewhere, number for number.

use crate::Remembered;
use loci_model::{
    Actor, ApiKey, Event, Grant, Invalid, Membership, MemoryId, Operation, Principal, PrincipalId,
    Session, Store, StoreId, Timestamp, Version, VersionId,
};

/// The last moment of the year 9999. A later one in a history would leave no room for the entries
/// that are to come after it.
const TIME_MAX: Timestamp = Timestamp::from_micros(253_402_300_799_999_999);

/// One entry of a store's history, in feed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEntry {
    /// A version, with content where it still has one.
    Version {
        /// The version.
        version: Box<Version>,
        /// Whose partition its memory is in.
        partition: Option<PrincipalId>,
        /// Who owns its memory.
        owner: PrincipalId,
    },
    /// A version that should have content but whose content cannot be read or is not what was
    /// written; without it. It only ever comes out of an engine: none takes it in.
    Damaged {
        /// The version.
        version: Box<Version>,
        /// Whose partition its memory is in.
        partition: Option<PrincipalId>,
        /// Who owns its memory.
        owner: PrincipalId,
    },
    /// The redaction of an earlier version.
    Redaction {
        /// The number in the feed.
        seq: u64,
        /// The memory.
        memory: MemoryId,
        /// The version.
        version: VersionId,
        /// By whom.
        actor: Actor,
        /// When.
        at: Timestamp,
        /// Why.
        reason: String,
    },
}

impl LogEntry {
    /// The number in the feed.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Version { version, .. } | Self::Damaged { version, .. } => version.seq,
            Self::Redaction { seq, .. } => *seq,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Version { version, .. } | Self::Damaged { version, .. } => version.created_at,
            Self::Redaction { at, .. } => *at,
        }
    }

    /// The memory it is about.
    pub fn memory(&self) -> MemoryId {
        match self {
            Self::Version { version, .. } | Self::Damaged { version, .. } => version.memory,
            Self::Redaction { memory, .. } => *memory,
        }
    }
}

/// What an imported version must fit onto: the memory as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownMemory {
    /// The newest revision.
    pub revision: u64,
    /// What the newest version recorded.
    pub operation: Operation,
    /// Whose partition it is in.
    pub partition: Option<PrincipalId>,
    /// Who owns it.
    pub owner: PrincipalId,
}

/// Whether an entry can be the next one of a store's history: a pure check that every engine makes,
/// so that no import brings in what no engine would have written. Engines add what needs a look at
/// other rows: that ids are new, times later than the last and paths free.
pub fn check_next(
    entry: &LogEntry,
    store: StoreId,
    known: Option<&KnownMemory>,
) -> Result<(), Invalid> {
    let refuse = |why: &str| Err(Invalid::new("entry", why));
    if entry.at() > TIME_MAX {
        return refuse("is later than the year 9999");
    }
    let (version, partition, owner) = match entry {
        LogEntry::Version { version, partition, owner } => (version, partition, owner),
        LogEntry::Damaged { .. } => return refuse("is damaged"),
        LogEntry::Redaction { .. } => return Ok(()),
    };
    if version.store != store {
        return refuse("belongs to another store");
    }
    if version.revision != known.map_or(1, |known| known.revision + 1) {
        return refuse("is not the next revision of its memory");
    }
    if let Some(known) = known
        && (known.partition, known.owner) != (*partition, *owner)
    {
        return refuse("has another owner or partition than its memory");
    }
    let follows = match (known.map(|known| known.operation), version.operation) {
        (None, operation) => operation == Operation::Created,
        (Some(Operation::Deleted), _) | (Some(_), Operation::Created) => false,
        (Some(_), Operation::Modified | Operation::Deleted) => true,
    };
    if !follows {
        return refuse("records an operation that cannot happen at this point");
    }
    check_parts(version)
}

fn check_parts(version: &Version) -> Result<(), Invalid> {
    let refuse = |why: &str| Err(Invalid::new("entry", why));
    let is_redacted = version.redaction.is_some();
    let is_described = version.path.is_some() && version.attributes.is_some();
    let is_bare = version.path.is_none() && version.attributes.is_none();
    if (is_redacted && !is_bare) || (!is_redacted && !is_described) {
        return refuse("has a path and attributes exactly when it is not redacted");
    }
    let may_hold = !is_redacted && version.operation != Operation::Deleted;
    let content = version.content.as_ref();
    if content.is_some() != may_hold {
        return refuse("has content exactly when it is neither a removal nor redacted");
    }
    let digest = content.map(loci_model::Content::digest);
    let size_bytes = content.map(|content| content.bytes().len() as u64);
    if (digest, size_bytes) != (version.digest, version.size_bytes) {
        return refuse("has content that is not what its digest says");
    }
    version.attributes.as_ref().map_or(Ok(()), loci_model::Attributes::validate)
}

/// One thing to import. Items that are there already, equal, are passed over; a store's history is
/// taken only in order and from where the store stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportItem {
    /// A principal.
    Principal(Principal),
    /// A store.
    Store(Box<Store>),
    /// A grant.
    Grant(Grant),
    /// An entry of a store's history.
    Entry(StoreId, LogEntry),
    /// A session with what it attaches.
    Session(Box<Session>),
    /// A key, revoked ones too; its principal comes first.
    Key(Box<ApiKey>),
    /// What an earlier request did, so that it can be repeated here.
    Remembered(Box<Remembered>),
    /// Somebody in a group; both come first.
    Membership(Membership),
    /// An entry of the audit log, taken in order only and from where the log stands.
    Event(Box<Event>),
}
