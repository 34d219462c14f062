//! The small world every case plays in: one workspace, one principal, one store, a clock that moves
//! a second with each write, and short words for the edits.

use loci_model::edit::{Occurrence, Separator};
use loci_model::policy::{
    self, AdminPass, BrowsePass, ConvenePass, ManagePass, ReadPass, SearchPass, SharePass, System,
    WritePass,
};
use loci_model::query::{ListItem, ListQuery, VersionQuery};
use loci_model::{
    Actor, At, Attributes, AttributesPatch, Audience, Caller, Cause, Change, Content, Edit, EditOp,
    Event, Expect, GrantId, Happening, KeyId, KeyScope, Membership, Memory, MemoryId, MemoryPath,
    MemorySwitches, OnSame, Outcome, Patch, Principal, PrincipalId, PrincipalKind, Store, StoreId,
    StorePolicy, Timestamp, Version, VersionId, View, Visibility, WorkspaceId,
};
use loci_storage::{
    Applied, Batch, Idempotency, Mutation, Receipt, Result, StampedEdit, Storage, StorageError,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// When every world begins, in microseconds.
pub const START: i64 = 1_800_000_000_000_000;
const SECOND: i64 = 1_000_000;

static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// Bits for an id nothing else in this process has; later ones are larger.
pub fn next_bits() -> u128 {
    u128::from(LAST_ID.fetch_add(1, Ordering::Relaxed)) + 1
}

/// Whether a result is the refusal that a pattern describes; shows the result if not.
macro_rules! assert_refused {
    ($result:expr, $refusal:pat $(if $guard:expr)?) => {
        match $result {
            Err($refusal) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($refusal)),
        }
    };
}
pub(crate) use assert_refused;

/// A workspace with one owner and one store.
pub struct World {
    pub storage: Arc<dyn Storage>,
    pub workspace: WorkspaceId,
    pub owner: PrincipalId,
    pub store: StoreId,
    clock: AtomicI64,
}

impl World {
    pub async fn new(storage: Arc<dyn Storage>) -> Self {
        Self::with_policy(storage, StorePolicy::default()).await
    }

    pub async fn with_policy(storage: Arc<dyn Storage>, policy: StorePolicy) -> Self {
        let workspace = WorkspaceId::from_u128(next_bits());
        let mut world = Self {
            storage,
            workspace,
            owner: PrincipalId::from_u128(0),
            store: StoreId::from_u128(0),
            clock: AtomicI64::new(START),
        };
        world.write(Mutation::CreateWorkspace(workspace, world.now())).await.unwrap();
        world.owner = world.new_principal("owner").await;
        world.store = world.new_store(policy).await.id;
        world
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::Relaxed))
    }

    /// The moment `secs` seconds from now.
    pub fn in_secs(&self, secs: i64) -> Timestamp {
        self.now().plus_secs(secs)
    }

    /// Moves the clock, backwards too.
    pub fn move_clock(&self, secs: i64) {
        self.clock.fetch_add(secs * SECOND, Ordering::Relaxed);
    }

    // Authority.

    pub fn system(&self) -> System {
        System::because("contract suite")
    }

    pub fn read_pass(&self) -> ReadPass {
        self.system().read(self.workspace, self.store, self.now())
    }

    pub fn write_pass(&self) -> WritePass {
        self.system().write(self.workspace, self.store, self.owner, self.now())
    }

    pub fn manage_pass(&self) -> ManagePass {
        self.system().manage(self.workspace, self.store, self.now())
    }

    pub fn share_pass(&self) -> SharePass {
        self.system().share(self.workspace, self.store, self.owner, self.now())
    }

    pub fn search_pass(&self) -> SearchPass {
        self.system().search(self.workspace, vec![self.store], self.now())
    }

    pub fn admin_pass(&self) -> AdminPass {
        self.system().administer(self.workspace, self.now())
    }

    pub fn convene_pass(&self) -> ConvenePass {
        self.system().convene(self.workspace, self.now())
    }

    pub fn browse_pass(&self) -> BrowsePass {
        self.system().browse(self.workspace, self.now())
    }

    /// A caller with its own name on versions.
    pub fn caller(&self, principal: PrincipalId, audience: Audience) -> Caller {
        Caller {
            acts_for_agents: false,
            memory: MemorySwitches::default(),
            workspace: self.workspace,
            principal,
            is_admin: false,
            actor: Actor::Key(KeyId::from_u128(principal.as_u128())),
            session: None,
            session_user: loci_model::SessionUser::Unsaid,
            audience,
            scope: KeyScope::FULL,
            expires_at: None,
        }
    }

    pub async fn facts(&self, principal: PrincipalId) -> policy::Facts {
        let facts = self.storage.facts(self.workspace, self.store, principal, None).await;
        facts.unwrap().expect("the store is there")
    }

    pub async fn model_read_pass(&self) -> ReadPass {
        let caller = self.caller(self.owner, Audience::Model);
        policy::read(&caller, &self.facts(self.owner).await, self.now()).unwrap()
    }

    pub async fn model_write_pass(&self) -> WritePass {
        let caller = self.caller(self.owner, Audience::Model);
        policy::write(&caller, &self.facts(self.owner).await, self.now()).unwrap()
    }

    pub async fn model_search_pass(&self) -> SearchPass {
        let caller = self.caller(self.owner, Audience::Model);
        policy::search(&caller, &[self.facts(self.owner).await], self.now())
    }

    // Making things.

    pub async fn new_principal(&self, name: &str) -> PrincipalId {
        self.new_one(PrincipalKind::User, name).await
    }

    /// A principal of some kind.
    pub async fn new_one(&self, kind: PrincipalKind, name: &str) -> PrincipalId {
        let principal = self.plan_principal(kind, name);
        let id = principal.id;
        self.write(Mutation::CreatePrincipal(principal)).await.unwrap();
        id
    }

    /// A principal that is not stored yet.
    pub fn plan_principal(&self, kind: PrincipalKind, name: &str) -> Principal {
        Principal {
            memory: MemorySwitches::default(),
            id: PrincipalId::from_u128(next_bits()),
            workspace: self.workspace,
            kind,
            name: name.to_owned(),
            is_admin: false,
            created_at: self.now(),
        }
    }

    /// Another workspace.
    pub async fn new_workspace(&self) -> WorkspaceId {
        let workspace = WorkspaceId::from_u128(next_bits());
        self.write(Mutation::CreateWorkspace(workspace, self.now())).await.unwrap();
        workspace
    }

    pub async fn join(&self, group: PrincipalId, member: PrincipalId) -> Membership {
        let new = Membership { group, member, since: self.now() };
        match self.write(Mutation::AddMember(self.convene_pass(), new)).await.unwrap() {
            Receipt::Member(membership) => membership,
            other => panic!("{other:?}"),
        }
    }

    /// Somebody leaves a group; the grants that went with it, in one order.
    pub async fn leave(&self, group: PrincipalId, member: PrincipalId) -> Vec<GrantId> {
        let remove = Mutation::RemoveMember { pass: self.convene_pass(), group, member };
        match self.write(remove).await.unwrap() {
            Receipt::MemberRemoved { group: left, member: gone, mut revoked } => {
                assert_eq!((left, gone), (group, member));
                revoked.sort();
                revoked
            }
            other => panic!("{other:?}"),
        }
    }

    /// Something that happened to the world's store.
    pub fn happening(&self, kind: &'static str) -> Happening {
        Happening {
            workspace: self.workspace,
            at: self.now(),
            actor: Actor::Key(KeyId::from_u128(7)),
            principal: self.owner,
            kind,
            store: Some(self.store),
            subject: Some("subject".into()),
            detail: None,
        }
    }

    /// The whole audit log.
    pub async fn events(&self) -> Vec<Event> {
        self.storage.events(&self.admin_pass(), 0, 1000).await.unwrap()
    }

    /// A store that is not stored yet.
    pub fn plan_store(&self, policy: StorePolicy) -> Store {
        Store {
            address: None,
            id: StoreId::from_u128(next_bits()),
            workspace: self.workspace,
            owner: self.owner,
            name: "notes".into(),
            description: "what was said".into(),
            metadata: BTreeMap::from([("team".into(), "red".into())]),
            policy,
            created_at: self.now(),
            updated_at: self.now(),
            archived_at: None,
        }
    }

    pub async fn new_store(&self, policy: StorePolicy) -> Store {
        let store = self.plan_store(policy);
        self.write(Mutation::CreateStore(store.clone())).await.unwrap();
        store
    }

    /// Writes without an idempotency key, one second after the write before.
    pub async fn write(&self, mutation: Mutation) -> Result<Receipt> {
        let applied = self.storage.write(mutation, None).await;
        self.move_clock(1);
        applied.map(|Applied { receipt, is_replay }| {
            assert!(!is_replay, "a write without a key is never a replay");
            receipt
        })
    }

    pub async fn commit_as(&self, pass: WritePass, edits: Vec<Edit>) -> Result<Vec<Outcome>> {
        let receipt = self.write(Mutation::Commit(pass, batch(edits))).await?;
        Ok(committed(receipt))
    }

    pub async fn commit(&self, edits: Vec<Edit>) -> Result<Vec<Outcome>> {
        self.commit_as(self.write_pass(), edits).await
    }

    pub async fn edit(&self, edit: Edit) -> Result<Outcome> {
        Ok(self.commit(vec![edit]).await?.remove(0))
    }

    /// Writes text at a path; the memory as it is then.
    pub async fn put(&self, at: &str, text: &str) -> Memory {
        self.edit(put(at, text)).await.unwrap().memory
    }

    /// Writes text with attributes.
    pub async fn put_with(&self, at: &str, text: &str, attributes: Attributes) -> Memory {
        let edit = with_attributes(put(at, text), attributes);
        self.edit(edit).await.unwrap().memory
    }

    pub async fn archive(&self) {
        self.write(Mutation::ArchiveStore(self.manage_pass())).await.unwrap();
    }

    // Looking.

    pub async fn get(&self, at: &str) -> Option<Memory> {
        let at = At::Path(None, path(at));
        let found = self.storage.get(&self.read_pass(), &at, View::Full).await;
        found.unwrap()
    }

    pub async fn text_at(&self, at: &str) -> Option<String> {
        let content = self.get(at).await?.content.expect("the view was full");
        content.text().map(str::to_owned)
    }

    pub async fn list(&self, query: &ListQuery) -> Vec<ListItem> {
        let page = self.storage.list(&self.read_pass(), query).await;
        page.unwrap().items
    }

    /// The paths of all memories in order.
    pub async fn paths(&self) -> Vec<String> {
        let items = self.list(&ListQuery::everything(View::Basic, 1000)).await;
        items.iter().map(item_text).collect()
    }

    /// All versions, oldest first, with content.
    pub async fn history(&self) -> Vec<Version> {
        let page = self.storage.versions(&self.read_pass(), &all_versions()).await;
        let mut versions = page.unwrap().items;
        versions.reverse();
        versions
    }

    pub async fn feed(&self) -> Vec<Change> {
        let feed = self.storage.changes(&self.read_pass(), 0, 1000).await;
        feed.unwrap()
    }

    pub async fn version(&self, id: VersionId) -> Version {
        let pass = self.read_pass();
        let version = self.storage.version(&pass, id, View::Full).await;
        version.unwrap().expect("the version is there")
    }

    /// What an index of the store would be made of, in several pages; nothing when it is gone.
    pub async fn texts_for(&self, pass: &SearchPass) -> Vec<Memory> {
        let (mut texts, mut after) = (Vec::new(), 0);
        loop {
            let page = match self.storage.texts(pass, self.store, after, 2).await {
                Err(StorageError::NotFound(_)) => return texts,
                page => page.unwrap(),
            };
            texts.extend(page.memories);
            match page.next {
                Some(next) => after = next,
                None => return texts,
            }
        }
    }

    /// The memories whose text, as an index would get it, holds any of these.
    pub async fn find(&self, words: &[&str]) -> Vec<MemoryId> {
        let mut found = self.texts_for(&self.search_pass()).await;
        found.retain(|memory| {
            let content = memory.content.as_ref().expect("texts come with content");
            let text = content.text().expect("texts are not sealed");
            words.iter().any(|word| text.contains(word))
        });
        found.iter().map(|memory| memory.id).collect()
    }

    /// The engine's own look at itself finds nothing wrong.
    pub async fn assert_sound(&self) {
        let report = self.storage.check().await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
    }
}

// Words for values.

pub fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

pub fn batch(edits: Vec<Edit>) -> Batch {
    let stamp = |edit| StampedEdit {
        edit,
        new_memory: MemoryId::from_u128(next_bits()),
        version: VersionId::from_u128(next_bits()),
    };
    Batch {
        edits: edits.into_iter().map(stamp).collect(),
        cause: Cause::new(Some("req_contract".into()), "api"),
    }
}

pub fn committed(receipt: Receipt) -> Vec<Outcome> {
    match receipt {
        Receipt::Committed(outcomes) => outcomes,
        other => panic!("expected a commit, got {other:?}"),
    }
}

pub fn idempotency(
    workspace: WorkspaceId,
    scope: u128,
    key: &str,
    request: u8,
    now: Timestamp,
) -> Idempotency {
    Idempotency { workspace, scope, key: key.to_owned(), fingerprint: [request; 32], now }
}

pub fn item_text(item: &ListItem) -> String {
    match item {
        ListItem::Memory(memory) => memory.path.to_string(),
        ListItem::Directory(directory) => directory.clone(),
    }
}

pub fn all_versions() -> VersionQuery {
    VersionQuery {
        memory: None,
        operation: None,
        actor: None,
        since: None,
        until: None,
        view: View::Full,
        before_seq: None,
        limit: 1000,
    }
}

pub fn of_kind(kind: &str) -> Attributes {
    Attributes { kind: Some(kind.to_owned()), ..Attributes::default() }
}

pub fn tagged(tags: &[&str]) -> Attributes {
    Attributes { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..Attributes::default() }
}

pub fn shown_as(visibility: Visibility) -> Attributes {
    Attributes { visibility, ..Attributes::default() }
}

pub fn until(end: Timestamp) -> Attributes {
    Attributes { expires_at: Some(end), ..Attributes::default() }
}

// Words for edits.

pub fn put(at: &str, text: &str) -> Edit {
    Edit::put_text(path(at), text)
}

pub fn put_sealed(at: &str, bytes: &[u8]) -> Edit {
    let content = Some(Content::Sealed(bytes.to_vec()));
    edit_at(At::Path(None, path(at)), put_op(content, None))
}

pub fn put_in(partition: PrincipalId, at: &str, text: &str) -> Edit {
    let content = Some(Content::Text(text.to_owned()));
    edit_at(At::Path(Some(partition), path(at)), put_op(content, None))
}

pub fn update(id: MemoryId, text: &str) -> Edit {
    let content = Some(Content::Text(text.to_owned()));
    edit_at(At::Id(id), put_op(content, None))
}

pub fn rename(id: MemoryId, to: &str) -> Edit {
    edit_at(At::Id(id), put_op(None, Some(to)))
}

pub fn describe(id: MemoryId, attributes: Attributes) -> Edit {
    with_attributes(edit_at(At::Id(id), put_op(None, None)), attributes)
}

pub fn append(at: &str, text: &str) -> Edit {
    let op = EditOp::Append {
        text: text.to_owned(),
        separator: Separator::Always("\n".into()),
        to: None,
        attributes: AttributesPatch::default(),
    };
    edit_at(At::Path(None, path(at)), op)
}

/// The same, on a line of its own.
pub fn append_line(at: &str, text: &str) -> Edit {
    let op = EditOp::Append {
        text: text.to_owned(),
        separator: Separator::IfMissing("\n".into()),
        to: None,
        attributes: AttributesPatch::default(),
    };
    edit_at(At::Path(None, path(at)), op)
}

pub fn replace(at: &str, old: &str, new: &str, which: Occurrence) -> Edit {
    let op = EditOp::Replace { old: old.to_owned(), new: new.to_owned(), which };
    edit_at(At::Path(None, path(at)), op)
}

pub fn remove(at: &str) -> Edit {
    Edit::remove(At::Path(None, path(at)), Expect::Anything)
}

pub fn expecting(edit: Edit, expect: Expect) -> Edit {
    Edit { expect, ..edit }
}

pub fn recording(edit: Edit) -> Edit {
    Edit { on_same: OnSame::Record, ..edit }
}

pub fn with_attributes(mut edit: Edit, with: Attributes) -> Edit {
    if let EditOp::Put { attributes, .. } | EditOp::Append { attributes, .. } = &mut edit.op {
        *attributes = AttributesPatch::replace(with);
    }
    edit
}

pub fn pin(id: MemoryId) -> Edit {
    let mut edit = edit_at(At::Id(id), put_op(None, None));
    if let EditOp::Put { attributes, .. } = &mut edit.op {
        attributes.pinned = Patch::Set(true);
    }
    edit
}

pub fn edit_at(at: At, op: EditOp) -> Edit {
    Edit { at, expect: Expect::Anything, on_same: OnSame::Skip, op }
}

pub fn put_op(content: Option<Content>, to: Option<&str>) -> EditOp {
    EditOp::Put { content, to: to.map(path), attributes: AttributesPatch::default() }
}

pub fn not_found(error: &StorageError) -> bool {
    use loci_model::decide::Refusal;
    matches!(
        error,
        StorageError::NotFound(_) | StorageError::Refused { refusal: Refusal::NotFound, .. }
    )
}
