//! Random worlds and what happens in them. Words, paths and labels come from small sets, so that
//! what is hidden has much in common with what is not and would be felt if it counted.

use crate::unseen::oracle::{Known, KnownMemory, KnownStore};
use crate::unseen::world::{Entry, Step, World};
use loci_model::store::Partitioning;
use loci_model::{
    Access, Actor, At, Attachment, Attributes, AttributesPatch, Audience, Caller, Content, Edit,
    EditOp, Expect, Grant, GrantId, Grantee, KeyId, KeyScope, Level, MemoryId, MemoryPath, OnSame,
    Power, PrincipalId, Session, SessionId, Store, StoreId, StorePolicy, Timestamp, VersionId,
    Visibility, WorkspaceId,
};
use loci_storage::StampedEdit;
use loci_test_kit::Dice;
use std::collections::BTreeMap;

/// Words of texts and queries; their stems differ, none is a stop word.
pub(crate) const WORDS: [&str; 12] = [
    "tea",
    "cup",
    "river",
    "stone",
    "green",
    "lamp",
    "violin",
    "cat",
    "teapot",
    "stonework",
    "茶",
    "2027",
];
pub(crate) const NAMES: [&str; 2] = ["Ana", "Bo"];
pub(crate) const TAGS: [&str; 3] = ["lamp", "x", "cat"];
pub(crate) const KINDS: [&str; 2] = ["fact", "note"];
const DIRECTORIES: [&str; 3] = ["/a", "/a/cup", "/b"];
const FILES: [&str; 7] = ["turn_1", "turn_2", "turn_3", "turn_10", "note", "green.md", "7"];

/// A world, what the test knows about it, and how it came about.
pub(crate) struct Grown {
    pub(crate) world: World,
    pub(crate) known: Known,
    pub(crate) log: Vec<Entry>,
    pub(crate) callers: Vec<Caller>,
    pub(crate) now: Timestamp,
    /// Whether something was written since vectors were made whose content has vectors already:
    /// an index that was there takes them over at once, a new one has to wait.
    pub(crate) is_ambiguous: bool,
    principals: Vec<PrincipalId>,
    workspaces: [WorkspaceId; 2],
}

impl Grown {
    pub(crate) async fn new(dice: &mut Dice) -> Self {
        let index_bytes_max = if dice.percent(25) { 0 } else { usize::MAX };
        let mut grown = Self {
            world: World::new(index_bytes_max),
            known: Known::default(),
            log: Vec::new(),
            callers: Vec::new(),
            now: Timestamp::from_micros(1_800_000_000_000_000),
            is_ambiguous: false,
            principals: (0..dice.between(2, 4))
                .map(|_| PrincipalId::from_u128(dice.bits()))
                .collect(),
            workspaces: [WorkspaceId::from_u128(1), WorkspaceId::from_u128(2)],
        };
        for _ in 0..dice.between(1, 4) {
            grown.create_store(dice).await;
        }
        for _ in 0..dice.between(2, 8) {
            grown.share(dice).await;
        }
        if dice.percent(60) {
            grown.open_session(dice).await;
        }
        for _ in 0..dice.between(3, 5) {
            let caller = grown.caller(dice);
            grown.callers.push(caller);
        }
        for _ in 0..dice.between(3, 12) {
            grown.create(dice).await;
        }
        grown.take(Step::Follow).await;
        grown
    }

    /// Something happens, and perhaps vectors are made.
    pub(crate) async fn go_on(&mut self, dice: &mut Dice) {
        for _ in 0..dice.between(1, 4) {
            match dice.below(20) {
                0..=4 => self.create(dice).await,
                5..=9 => self.change(dice).await,
                10 => self.remove(dice).await,
                11 => self.erase(dice).await,
                12 => self.sweep(dice).await,
                13..=14 => self.share(dice).await,
                15 => self.revoke(dice).await,
                16 if dice.percent(20) => self.remove_store(dice).await,
                _ => self.now = self.now.plus_secs(dice.between(1, 40) as i64),
            }
        }
        if dice.percent(60) {
            self.take(Step::Follow).await;
            self.is_ambiguous = false;
        }
        self.world.set_clock(self.now);
    }

    async fn take(&mut self, step: Step) {
        self.now = self.now.plus_secs(1);
        let entry = Entry { at: self.now, step };
        self.world.take(&entry).await;
        self.log.push(entry);
    }

    async fn create_store(&mut self, dice: &mut Dice) {
        let partitioning =
            if dice.percent(25) { Partitioning::ByOwner } else { Partitioning::None };
        let store = Store {
            address: None,
            id: StoreId::from_u128(dice.bits()),
            workspace: self.workspaces[usize::from(dice.percent(12))],
            owner: dice.pick(&self.principals),
            name: "store".into(),
            description: String::new(),
            metadata: BTreeMap::new(),
            policy: StorePolicy { partitioning, ..StorePolicy::default() },
            created_at: self.now,
            updated_at: self.now,
            archived_at: None,
        };
        self.known.stores.push(KnownStore {
            store: store.clone(),
            is_removed: false,
            grants: Vec::new(),
        });
        self.take(Step::CreateStore(store)).await;
    }

    async fn remove_store(&mut self, dice: &mut Dice) {
        let at = dice.below(self.known.stores.len());
        let known = &mut self.known.stores[at];
        let id = known.store.id;
        if !std::mem::replace(&mut known.is_removed, true) {
            self.known.memories.retain(|_, memory| memory.store != id);
            self.take(Step::RemoveStore(id)).await;
        }
    }

    async fn share(&mut self, dice: &mut Dice) {
        let at = dice.below(self.known.stores.len());
        let known = &mut self.known.stores[at];
        if known.is_removed {
            return;
        }
        let grantee = match dice.percent(25) {
            true => Grantee::Everyone,
            false => Grantee::Principal(dice.pick(&self.principals)),
        };
        let before = known.grants.iter().position(|grant| grant.grantee == grantee);
        let grant = Grant {
            id: before.map_or(GrantId::from_u128(dice.bits()), |at| known.grants[at].id),
            store: known.store.id,
            grantee,
            level: dice.pick(&[Level::Search, Level::Read, Level::ReadWrite]),
            given_by: known.store.owner,
            expires_at: dice.percent(40).then(|| self.now.plus_secs(dice.between(1, 60) as i64)),
            created_at: self.now,
        };
        match before {
            Some(at) => known.grants[at] = grant.clone(),
            None => known.grants.push(grant.clone()),
        }
        self.take(Step::Share(grant)).await;
    }

    async fn revoke(&mut self, dice: &mut Dice) {
        let at = dice.below(self.known.stores.len());
        let known = &mut self.known.stores[at];
        if known.is_removed || known.grants.is_empty() {
            return;
        }
        let grant = known.grants.remove(dice.below(known.grants.len()));
        self.take(Step::Revoke(grant.store, grant.grantee, grant.id)).await;
    }

    async fn open_session(&mut self, dice: &mut Dice) {
        let stores = self.known.stores.iter().map(|known| known.store.id);
        let attached = stores.filter(|_| dice.percent(60)).map(|store| Attachment {
            store,
            access: Access::ReadOnly,
            instructions: None,
            name: "store".into(),
            description: String::new(),
            mount_path: "/mnt".into(),
        });
        let attachments = attached.collect();
        let session = Session {
            id: SessionId::from_u128(dice.bits()),
            workspace: self.workspaces[0],
            owner: self.principals[0],
            title: None,
            metadata: BTreeMap::new(),
            agent_id: "agent".into(),
            agent_version: 1,
            details: "{}".into(),
            attachments,
            created_at: self.now,
            updated_at: self.now,
            archived_at: None,
        };
        self.known.sessions.push(session.clone());
        self.take(Step::OpenSession(session)).await;
    }

    fn caller(&self, dice: &mut Dice) -> Caller {
        let principal = dice.pick(&self.principals);
        let stores: Vec<StoreId> = self.known.stores.iter().map(|known| known.store.id).collect();
        let level = Power::UpTo(dice.pick(&[Level::Search, Level::Read, Level::ReadWrite]));
        let workspace = self.workspaces[usize::from(dice.percent(5))];
        let mut sessions = self.known.sessions.iter();
        let session = sessions.find(|session| session.workspace == workspace);
        let session = session.map(|session| session.id);
        Caller {
            acts_for_agents: false,
            memory: loci_model::MemorySwitches::default(),
            workspace,
            principal,
            is_admin: dice.percent(12),
            actor: Actor::Key(KeyId::from_u128(dice.bits())),
            session: session.filter(|_| dice.percent(25)),
            session_user: loci_model::SessionUser::Unsaid,
            audience: dice.pick(&[Audience::Host, Audience::Model]),
            scope: KeyScope {
                power: if dice.percent(60) { Power::Full } else { level },
                stores: dice
                    .percent(15)
                    .then(|| stores.into_iter().filter(|_| dice.percent(60)).collect()),
            },
            expires_at: None,
        }
    }

    async fn create(&mut self, dice: &mut Dice) {
        let known = &self.known.stores[dice.below(self.known.stores.len())];
        if known.is_removed || self.known.memories.len() >= 12 {
            return;
        }
        let (store, owner) = (known.store.id, dice.pick(&self.principals));
        let partition = (known.store.policy.partitioning == Partitioning::ByOwner).then_some(owner);
        let path = free_path(&self.known, store, dice);
        let Some(path) = path else { return };
        let (content, text) = some_content(dice);
        let attributes = some_attributes(dice, self.now);
        let id = MemoryId::from_u128(dice.bits());
        let edit = Edit {
            at: At::Path(partition, MemoryPath::parse(&path).unwrap()),
            expect: Expect::Absent,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content: Some(content),
                to: None,
                attributes: AttributesPatch::replace(attributes.clone()),
            },
        };
        self.known.memories.insert(id, KnownMemory { store, path, text, attributes });
        self.edit(dice, store, id, owner, edit).await;
    }

    async fn edit(
        &mut self,
        dice: &mut Dice,
        store: StoreId,
        memory: MemoryId,
        writer: PrincipalId,
        edit: Edit,
    ) {
        let version = VersionId::from_u128(dice.bits());
        let edit = StampedEdit { edit, new_memory: memory, version };
        self.take(Step::Edit(store, memory, writer, Box::new(edit))).await;
    }

    /// A memory that is there, or whose time is over but which was not swept.
    fn some_memory(&self, dice: &mut Dice) -> Option<(MemoryId, KnownMemory)> {
        let all: Vec<_> = self.known.memories.iter().collect();
        (!all.is_empty()).then(|| {
            let (id, memory) = dice.pick(&all);
            (*id, memory.clone())
        })
    }

    async fn change(&mut self, dice: &mut Dice) {
        let Some((id, mut memory)) = self.some_memory(dice) else { return };
        // The step itself takes a second.
        if memory.is_over(self.now.plus_secs(1)) {
            return;
        }
        let (mut content, mut to) = (None, None);
        if dice.percent(50) {
            let (new, text) = some_content(dice);
            (content, memory.text) = (Some(new), text);
        }
        if dice.percent(30)
            && let Some(path) = free_path(&self.known, memory.store, dice)
        {
            to = Some(MemoryPath::parse(&path).unwrap());
            memory.path = path;
        }
        if dice.percent(60) {
            memory.attributes = some_attributes(dice, self.now);
        }
        self.is_ambiguous |= content.is_none();
        let edit = Edit {
            at: At::Id(id),
            expect: Expect::Present,
            on_same: OnSame::Skip,
            op: EditOp::Put {
                content,
                to,
                attributes: AttributesPatch::replace(memory.attributes.clone()),
            },
        };
        let store = memory.store;
        self.known.memories.insert(id, memory);
        self.edit(dice, store, id, self.principals[0], edit).await;
    }

    async fn remove(&mut self, dice: &mut Dice) {
        let Some((id, memory)) = self.some_memory(dice) else { return };
        if !memory.is_over(self.now.plus_secs(1)) {
            self.known.memories.remove(&id);
            let edit = Edit::remove(At::Id(id), Expect::Present);
            self.edit(dice, memory.store, id, self.principals[0], edit).await;
        }
    }

    async fn erase(&mut self, dice: &mut Dice) {
        let Some((id, memory)) = self.some_memory(dice) else { return };
        self.known.memories.remove(&id);
        let version = VersionId::from_u128(dice.bits());
        self.take(Step::Erase(memory.store, id, version)).await;
    }

    async fn sweep(&mut self, dice: &mut Dice) {
        let over = self.known.memories.iter().find(|(_, memory)| memory.is_over(self.now));
        let Some((id, store)) = over.map(|(id, memory)| (*id, memory.store)) else { return };
        self.known.memories.remove(&id);
        let version = VersionId::from_u128(dice.bits());
        self.take(Step::Expire(store, id, version)).await;
    }
}

/// A path where nothing is, in any partition; expired memories that were not swept are in the way.
fn free_path(known: &Known, store: StoreId, dice: &mut Dice) -> Option<String> {
    let path = format!("{}/{}", dice.pick(&DIRECTORIES), dice.pick(&FILES));
    let mut here = known.memories.values().filter(|memory| memory.store == store);
    (!here.any(|memory| memory.path == path)).then_some(path)
}

fn some_content(dice: &mut Dice) -> (Content, Option<String>) {
    let mut text = String::new();
    if dice.percent(40) {
        text = format!("{} (3 May): ", dice.pick(&NAMES));
    }
    // A few are long enough to be cut into pieces, a few blank.
    let count = match dice.below(20) {
        0 => 120,
        1 => 0,
        _ => dice.between(1, 7),
    };
    for _ in 0..count {
        text.push_str(dice.pick(&WORDS));
        text.push(if dice.percent(10) { '\n' } else { ' ' });
    }
    match dice.percent(10) {
        true => (Content::Sealed(text.into_bytes()), None),
        false => (Content::Text(text.clone()), Some(text)),
    }
}

fn some_attributes(dice: &mut Dice, now: Timestamp) -> Attributes {
    Attributes {
        kind: dice.percent(40).then(|| dice.pick(&KINDS).to_owned()),
        tags: TAGS.iter().filter(|_| dice.percent(25)).map(|tag| (*tag).to_owned()).collect(),
        importance: dice.percent(40).then(|| dice.below(101) as u8),
        pinned: dice.percent(20),
        visibility: match dice.below(10) {
            0..=5 => Visibility::Context,
            6..=8 => Visibility::Internal,
            _ => Visibility::Quarantine,
        },
        expires_at: dice.percent(30).then(|| now.plus_secs(dice.between(2, 80) as i64)),
        ..Attributes::default()
    }
}
