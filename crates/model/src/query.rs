//! What a listing asks for, and where its next page starts. Wire cursors are made from these by the
//! doors; the core keeps no listing state.

use crate::{
    Actor, MemoryId, MemoryPath, Operation, PathPrefix, PrincipalId, SessionId, StoreId, Timestamp,
    View,
};
use std::collections::BTreeMap;

/// Up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Direction {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// Which memories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<String>,
    /// With this claimed source.
    pub source: Option<String>,
    /// With this scope.
    pub scope: Option<String>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// In this partition (`Some(None)`: in none).
    pub partition: Option<Option<PrincipalId>>,
}

impl Filter {
    /// Whether a memory's attributes and partition match.
    pub fn matches(&self, memory: &crate::Memory) -> bool {
        let attributes = &memory.attributes;
        self.kind.as_ref().is_none_or(|kind| attributes.kind.as_ref() == Some(kind))
            && self.source.as_ref().is_none_or(|source| attributes.source.as_ref() == Some(source))
            && self.scope.as_ref().is_none_or(|scope| attributes.scope.as_ref() == Some(scope))
            && self.tags.iter().all(|tag| attributes.tags.contains(tag))
            && self.partition.is_none_or(|partition| memory.partition == partition)
    }
}

/// In which order memories come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ListOrder {
    /// By the bytes of the path.
    #[default]
    Path,
    /// By creation.
    Created,
    /// By last change.
    Updated,
}

/// A listing of memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Below this directory.
    pub prefix: PathPrefix,
    /// Show what lies deeper than this many levels below the prefix as directories; only with path
    /// order.
    pub fold_depth: Option<usize>,
    /// Order.
    pub order: ListOrder,
    /// Up or down.
    pub direction: Direction,
    /// Which memories.
    pub filter: Filter,
    /// With content or without.
    pub view: View,
    /// Where the page starts.
    pub after: Option<ListCursor>,
    /// How many.
    pub limit: usize,
}

impl ListQuery {
    /// Everything in a store by path.
    pub fn everything(view: View, limit: usize) -> Self {
        Self {
            prefix: PathPrefix::root(),
            fold_depth: None,
            order: ListOrder::Path,
            direction: Direction::Ascending,
            filter: Filter::default(),
            view,
            after: None,
            limit,
        }
    }
}

/// The last thing a page of memories showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListCursor {
    /// A memory, in path order.
    Memory(MemoryPath, MemoryId),
    /// A folded directory, with its trailing slash.
    Directory(PathPrefix),
    /// A memory, in an order by time.
    Time(Timestamp, MemoryId),
}

impl ListCursor {
    /// The position in a few bytes, for doors to wrap.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Memory(path, id) => {
                [&b"p"[..], &id.to_bytes(), path.as_str().as_bytes()].concat()
            }
            Self::Directory(prefix) => [b"d", prefix.as_str().as_bytes()].concat(),
            Self::Time(at, id) => {
                [&b"t"[..], &at.as_micros().to_be_bytes(), &id.to_bytes()].concat()
            }
        }
    }

    /// The position that such bytes mean in a listing of this order.
    pub fn from_bytes(order: ListOrder, bytes: &[u8]) -> Option<Self> {
        let by_path = order == ListOrder::Path;
        match bytes.split_first()? {
            (b'p', rest) if by_path => {
                let (id, path) = rest.split_first_chunk()?;
                let path = MemoryPath::parse(std::str::from_utf8(path).ok()?).ok()?;
                Some(Self::Memory(path, MemoryId::from_bytes(*id)))
            }
            (b'd', rest) if by_path => {
                Some(Self::Directory(PathPrefix::parse(std::str::from_utf8(rest).ok()?).ok()?))
            }
            (b't', rest) if !by_path => {
                let (at, id) = rest.split_first_chunk()?;
                let at = Timestamp::from_micros(i64::from_be_bytes(*at));
                Some(Self::Time(at, MemoryId::from_bytes(id.try_into().ok()?)))
            }
            _ => None,
        }
    }
}

/// One line of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListItem {
    /// A memory.
    Memory(Box<crate::Memory>),
    /// A directory that holds memories deeper down, with its trailing slash.
    Directory(String),
}

impl ListItem {
    /// Where a page that ends with this item goes on, in a listing of this order.
    pub fn cursor(&self, order: ListOrder) -> ListCursor {
        match (self, order) {
            (Self::Directory(directory), _) => ListCursor::Directory(
                PathPrefix::parse(directory).expect("a directory is a prefix of a valid path"),
            ),
            (Self::Memory(memory), ListOrder::Path) => {
                ListCursor::Memory(memory.path.clone(), memory.id)
            }
            (Self::Memory(memory), ListOrder::Created) => {
                ListCursor::Time(memory.created_at, memory.id)
            }
            (Self::Memory(memory), ListOrder::Updated) => {
                ListCursor::Time(memory.updated_at, memory.id)
            }
        }
    }
}

/// A listing of versions, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionQuery {
    /// Of this memory.
    pub memory: Option<MemoryId>,
    /// Of this operation.
    pub operation: Option<Operation>,
    /// By this actor.
    pub actor: Option<Actor>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Not after.
    pub until: Option<Timestamp>,
    /// With content or without.
    pub view: View,
    /// Only versions with a smaller feed number than this.
    pub before_seq: Option<u64>,
    /// How many.
    pub limit: usize,
}

/// A listing of stores or sessions by creation time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedQuery<Id> {
    /// Not before.
    pub since: Option<Timestamp>,
    /// Not after.
    pub until: Option<Timestamp>,
    /// Archived ones too.
    pub include_archived: bool,
    /// Up or down.
    pub direction: Direction,
    /// The last one shown.
    pub after: Option<(Timestamp, Id)>,
    /// How many.
    pub limit: usize,
}

/// A listing of stores.
pub type StoreQuery = CreatedQuery<StoreId>;

/// A listing of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionQuery {
    /// By creation.
    pub created: CreatedQuery<SessionId>,
    /// With this store attached.
    pub store: Option<StoreId>,
    /// Of this agent.
    pub agent_id: Option<String>,
    /// Of this version of the agent.
    pub agent_version: Option<u64>,
}

/// So many memories, with so much content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    /// Memories.
    pub memories: u64,
    /// Bytes of content.
    pub bytes: u64,
}

impl Amount {
    /// Both together.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            memories: self.memories.saturating_add(more.memories),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    /// Whether it is no more than so much, of either.
    pub fn fits(self, most: Self) -> bool {
        self.memories <= most.memories && self.bytes <= most.bytes
    }
}

/// Numbers about one store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreStats {
    /// Live memories.
    pub memories: u64,
    /// Bytes of live content.
    pub content_bytes: u64,
    /// Versions, redacted ones included.
    pub versions: u64,
    /// The newest number of the feed.
    pub last_seq: u64,
}

/// How many memories of which kinds a store holds, as a reader sees it: of each path what changed
/// last, in whatever partition; sealed ones aside.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// By kind; those without one are counted under none.
    pub kinds: BTreeMap<Option<String>, u64>,
    /// The last change of any of them.
    pub updated_at: Option<Timestamp>,
}
