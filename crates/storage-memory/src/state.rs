//! The oracle's tables. A memory is nothing but its list of versions: whether it is live, where it
//! is and what it holds is read off the last one, so no copy can disagree with the history.

use super::readings::Readings;
use loci_model::query::StoreStats;
use loci_model::{
    Actor, ApiKey, At, Audience, Change, ChangeOp, Content, Event, Grant, Membership, Memory,
    MemoryId, Operation, Principal, PrincipalId, Session, SessionId, Store, StoreId, Timestamp,
    Version, VersionId, View, Visibility, WorkspaceId,
};
use loci_storage::{Generation, GenerationId, ReceiptRefs, Result, StorageError};
use std::collections::BTreeMap;

/// Everything there is.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) workspaces: Vec<(WorkspaceId, Timestamp)>,
    pub(super) principals: Vec<Principal>,
    pub(super) keys: Vec<ApiKey>,
    pub(super) memberships: Vec<Membership>,
    /// Those of each workspace in the order of their numbers.
    pub(super) events: Vec<Event>,
    pub(super) shelves: BTreeMap<StoreId, Shelf>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) idempotency: BTreeMap<(u128, String), Seen>,
    /// Oldest first.
    pub(super) generations: Vec<Generation>,
    /// The newest number ever given to a generation.
    pub(super) last_generation: u32,
    /// The grants that went with the mutation at hand.
    pub(super) taken: Vec<Grant>,
}

/// What a write that had an idempotency key did.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) workspace: WorkspaceId,
    pub(super) fingerprint: [u8; 32],
    pub(super) refs: ReceiptRefs,
    pub(super) at: Timestamp,
}

/// A store with all that is in it.
#[derive(Clone)]
pub(super) struct Shelf {
    pub(super) store: Store,
    pub(super) is_removed: bool,
    pub(super) grants: Vec<Grant>,
    pub(super) memories: BTreeMap<MemoryId, Kept>,
    /// Entry `n` has feed number `n + 1`. The path is filled in from the version when read.
    pub(super) feed: Vec<Change>,
    pub(super) vectors: BTreeMap<(GenerationId, VersionId), Vec<u8>>,
    /// Up to which feed number each generation's vectors reach.
    pub(super) marks: BTreeMap<GenerationId, u64>,
    pub(super) readings: Readings,
}

/// A memory, live or removed: its versions, oldest first, each with its content.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) partition: Option<PrincipalId>,
    pub(super) owner: PrincipalId,
    pub(super) versions: Vec<Version>,
    pub(super) erase_at: Option<Timestamp>,
}

impl State {
    /// A store that has not been removed.
    pub(super) fn shelf(&self, id: StoreId) -> Result<&Shelf> {
        let shelf = self.shelves.get(&id).filter(|shelf| !shelf.is_removed);
        shelf.ok_or(StorageError::NotFound("memory store"))
    }

    /// The same, to change it.
    pub(super) fn shelf_mut(&mut self, id: StoreId) -> Result<&mut Shelf> {
        let shelf = self.shelves.get_mut(&id).filter(|shelf| !shelf.is_removed);
        shelf.ok_or(StorageError::NotFound("memory store"))
    }

    pub(super) fn principal(&self, id: PrincipalId) -> Option<&Principal> {
        self.principals.iter().find(|principal| principal.id == id)
    }

    pub(super) fn session(&self, workspace: WorkspaceId, id: SessionId) -> Option<&Session> {
        let session = self.sessions.get(&id);
        session.filter(|session| session.workspace == workspace)
    }
}

impl Shelf {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            is_removed: false,
            grants: Vec::new(),
            memories: BTreeMap::new(),
            feed: Vec::new(),
            vectors: BTreeMap::new(),
            marks: BTreeMap::new(),
            readings: Readings::default(),
        }
    }

    /// Live memories, expired ones included, with content.
    pub(super) fn live(&self) -> impl Iterator<Item = Memory> {
        self.memories.values().filter_map(Kept::live)
    }

    /// Live memories that a reader sees at a moment, with content.
    pub(super) fn visible(
        &self,
        audience: Audience,
        now: Timestamp,
    ) -> impl Iterator<Item = Memory> {
        let shown = move |memory: &Memory| {
            is_shown_to(audience, memory.attributes.visibility) && !is_expired(memory, now)
        };
        self.live().filter(shown)
    }

    /// The memory that `at` names, as a reader sees it.
    pub(super) fn find(&self, at: &At, audience: Audience, now: Timestamp) -> Option<Memory> {
        let mut visible = self.visible(audience, now);
        match at {
            At::Id(id) => visible.find(|memory| memory.id == *id),
            At::Path(partition, path) => {
                visible.find(|memory| memory.partition == *partition && memory.path == *path)
            }
            At::First(filter) => visible
                .filter(|memory| filter.matches(memory))
                .min_by_key(|memory| (memory.created_at, memory.id)),
        }
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = &Version> {
        self.memories.values().flat_map(|kept| &kept.versions)
    }

    /// The time of the next feed entry.
    pub(super) fn next_at(&self, now: Timestamp) -> Timestamp {
        Timestamp::after(self.feed.last().map(|change| change.at), now)
    }

    /// Appends to the feed; a version's own entry or a redaction.
    pub(super) fn push_change(
        &mut self,
        version: &Version,
        op: ChangeOp,
        actor: Actor,
        at: Timestamp,
        reason: &str,
    ) {
        self.feed.push(Change {
            store: self.store.id,
            seq: self.feed.len() as u64 + 1,
            op,
            memory: version.memory,
            version: version.id,
            revision: version.revision,
            path: None,
            actor,
            at,
            reason: reason.to_owned(),
        });
    }

    pub(super) fn stats(&self) -> StoreStats {
        StoreStats {
            memories: self.live().count() as u64,
            content_bytes: self.live().map(|memory| memory.size_bytes).sum(),
            versions: self.versions().count() as u64,
            last_seq: self.feed.len() as u64,
        }
    }
}

impl Kept {
    pub(super) fn last(&self) -> &Version {
        self.versions.last().expect("a memory begins with a version")
    }

    pub(super) fn is_removed(&self) -> bool {
        self.last().operation == Operation::Deleted
    }

    /// The memory as its last version has it; none when removed.
    pub(super) fn live(&self) -> Option<Memory> {
        self.as_of(self.last())
    }

    /// The memory as a version had it; none for removals and redacted versions.
    pub(super) fn as_of(&self, version: &Version) -> Option<Memory> {
        Some(Memory {
            id: version.memory,
            store: version.store,
            partition: self.partition,
            owner: self.owner,
            path: version.path.clone()?,
            attributes: version.attributes.clone()?,
            head: version.id,
            revision: version.revision,
            content: version.content.clone(),
            digest: version.digest?,
            size_bytes: version.size_bytes?,
            is_sealed: version.content.as_ref().is_some_and(Content::is_sealed),
            created_at: self.versions[0].created_at,
            updated_at: version.created_at,
        })
    }

    /// Who may see the memory's history: the newest version that still says so. What was erased
    /// whole says nothing any more, and is no model's business.
    pub(super) fn visibility(&self) -> Visibility {
        let mut attributes = self.versions.iter().rev().filter_map(|v| v.attributes.as_ref());
        attributes.next().map_or(Visibility::Internal, |known| known.visibility)
    }
}

pub(super) fn is_shown_to(audience: Audience, visibility: Visibility) -> bool {
    audience == Audience::Host || visibility == Visibility::Context
}

pub(super) fn is_expired(memory: &Memory, now: Timestamp) -> bool {
    memory.attributes.expires_at.is_some_and(|end| end <= now)
}

/// A memory without its content, unless the view wants it.
pub(super) fn memory_in(view: View, mut memory: Memory) -> Memory {
    if view == View::Basic {
        memory.content = None;
    }
    memory
}

/// A version without its content, unless the view wants it.
pub(super) fn version_in(view: View, version: &Version) -> Version {
    let mut version = version.clone();
    if view == View::Basic {
        version.content = None;
    }
    version
}
