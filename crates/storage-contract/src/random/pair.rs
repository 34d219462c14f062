//! The two engines side by side, and what a history has made so far. Each step becomes one mutation
//! with ids of its own, given to both.

use super::order::{Asked, What, assert_some_order};
use super::plan::{EditPlan, Step, Who};
use super::stamp::{Stamps, pick};
use super::{Durable, copy, dump};
use loci_model::policy::{self, ManagePass, System};
use loci_model::store::{OnRemove, PolicyPatch, Repeats};
use loci_model::{
    Actor, Audience, Caller, Cause, Grant, GrantId, Grantee, KeyId, KeyScope, Level, MemoryId,
    Patch, Principal, PrincipalId, PrincipalKind, SessionId, Store, StoreId, StorePatch,
    StorePolicy, Timestamp, VersionId, WorkspaceId,
};
use loci_storage::{
    Applied, Batch, GenerationId, Idempotency, Mutation, Receipt, Result, StampedEdit, Storage,
    StorageError,
};
use loci_storage_memory::MemStorage;
use std::sync::Arc;
use tokio::task::JoinSet;

pub(super) const WORKSPACE: WorkspaceId = WorkspaceId::from_u128(1);
pub(super) const OWNER: PrincipalId = PrincipalId::from_u128(2);
pub(super) const GUESTS: [PrincipalId; 2] = [PrincipalId::from_u128(3), PrincipalId::from_u128(4)];
const START: i64 = 1_800_000_000_000_000;

/// Plays a history on both engines and compares them all along.
pub(super) async fn play<H: Durable>(steps: &[Step]) {
    let (engine, place) = H::fresh().await;
    let mut pair = Pair {
        oracle: MemStorage::new(),
        engine,
        now: Timestamp::from_micros(START),
        last_id: 1000,
        stores: Vec::new(),
        memories: Vec::new(),
        versions: Vec::new(),
        grants: Vec::new(),
        sessions: Vec::new(),
        keys: Vec::new(),
        generations: Vec::new(),
    };
    pair.set_up().await;
    for step in steps {
        match step {
            Step::Reopen => pair.reopen::<H>(&place).await,
            step => Box::pin(pair.step(step)).await,
        }
    }
    pair.reopen::<H>(&place).await;
    let (found, expected) = (pair.dump(&*pair.engine).await, pair.dump(&pair.oracle).await);
    dump::assert_same(&found, &expected);
    let report = pair.engine.check().await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    // Copies take longer than all the rest; some histories do for them.
    if steps.len().is_multiple_of(3) {
        copy::assert_copies_are_equal::<H>(&pair.oracle, WORKSPACE, &pair.stores, pair.now).await;
    }
}

pub(super) struct Pair {
    pub(super) oracle: MemStorage,
    pub(super) engine: Arc<dyn Storage>,
    pub(super) now: Timestamp,
    last_id: u128,
    pub(super) stores: Vec<StoreId>,
    memories: Vec<MemoryId>,
    pub(super) versions: Vec<VersionId>,
    pub(super) grants: Vec<GrantId>,
    pub(super) sessions: Vec<SessionId>,
    pub(super) keys: Vec<KeyId>,
    pub(super) generations: Vec<GenerationId>,
}

impl Pair {
    async fn set_up(&mut self) {
        self.write(Mutation::CreateWorkspace(WORKSPACE, self.now), None).await.unwrap();
        for (id, name) in [(OWNER, "owner"), (GUESTS[0], "one"), (GUESTS[1], "two")] {
            let principal = Principal {
                memory: loci_model::MemorySwitches::default(),
                id,
                workspace: WORKSPACE,
                kind: PrincipalKind::User,
                name: name.into(),
                is_admin: false,
                created_at: self.now,
            };
            self.write(Mutation::CreatePrincipal(principal), None).await.unwrap();
        }
        self.set_up_groups().await;
        let small = StorePolicy { memories_max: 5, content_bytes_max: 12, ..Default::default() };
        let on_remove = OnRemove::EraseAfter { secs: 10 };
        for policy in [small, StorePolicy { on_remove, ..StorePolicy::default() }] {
            let store = Store {
                address: None,
                id: StoreId::from_u128(self.next_id()),
                workspace: WORKSPACE,
                owner: OWNER,
                name: "store".into(),
                description: String::new(),
                metadata: Default::default(),
                policy,
                created_at: self.now,
                updated_at: self.now,
                archived_at: None,
            };
            self.stores.push(store.id);
            self.write(Mutation::CreateStore(store), None).await.unwrap();
            // A guest that can write, so that there is somebody to revoke and to give on.
            self.share(self.stores.len() - 1, Who::Owner, 0, 2, None).await;
        }
        self.set_up_homes().await;
    }

    /// Ends the engine and takes it up again where it was.
    async fn reopen<H: Durable>(&mut self, place: &H::Guard) {
        self.engine = Arc::new(MemStorage::new());
        self.engine = H::reopen(place).await;
    }

    async fn dump(&self, engine: &dyn Storage) -> String {
        let system = System::because("random histories");
        let mut text = dump::tenant(engine, system, WORKSPACE, &self.stores, self.now).await;
        for store in &self.stores {
            text += &dump::dump(engine, system, WORKSPACE, *store, self.now).await;
        }
        text
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Commit { store, who, edits, key } => {
                let edits = edits.iter().map(|plan| self.stamps(|stamps| stamps.edit(plan)));
                let edits = edits.collect();
                self.commit(*store, *who, edits, *key).await;
            }
            Step::Swap { store, one, other } => {
                let edits = self.stamps(|stamps| stamps.swap(*one, *other));
                self.commit(*store, Who::Owner, edits, None).await;
            }
            Step::Together { store, edits } => self.commit_together(*store, edits).await,
            Step::Reopen => unreachable!("done by who opened it"),
            Step::Credential(step) => self.credential_step(step).await,
            Step::Group(step) => self.group_step(step).await,
            Step::Expire { store, memory } => {
                let memory = self.memory(*memory);
                self.expire(*store, memory).await;
            }
            Step::Redact { store, version, key } => {
                let version = pick(&self.versions, *version, VersionId::from_u128(7));
                let redact = Mutation::Redact(self.manage_pass(*store), version);
                let _ = self.write(redact, *key).await;
            }
            Step::Erase { store, memory, key } => {
                let memory = self.memory(*memory);
                let version = VersionId::from_u128(self.next_id());
                let pass = self.manage_pass(*store);
                let result = self.write(Mutation::Erase { pass, memory, version }, *key).await;
                if result.is_ok() {
                    self.versions.push(version);
                }
            }
            Step::Share { store, giver, grantee, level, ends_in } => {
                self.share(*store, *giver, *grantee, *level, *ends_in).await;
            }
            Step::Revoke { store, giver, grant } => {
                let Some(facts) = self.facts(*store, *giver).await else { return };
                let Ok(pass) = policy::share(&caller(*giver), &facts, self.now) else { return };
                let grant = pick(&self.grants, *grant, GrantId::from_u128(7));
                let _ = self.write(Mutation::Revoke(pass, grant), None).await;
            }
            Step::Describe { store, name, key } => {
                let name = ["", "one", "two"][usize::from(*name)].to_owned();
                let patch = StorePatch { name: Some(name), ..StorePatch::default() };
                let describe = Mutation::DescribeStore(self.manage_pass(*store), patch);
                let _ = self.write(describe, *key).await;
            }
            Step::Archive { store, key } => {
                let _ = self.write(Mutation::ArchiveStore(self.manage_pass(*store)), *key).await;
            }
            Step::RemoveStore { store, key } => {
                let _ = self.write(Mutation::RemoveStore(self.manage_pass(*store)), *key).await;
            }
            Step::Purge { store, limit } => {
                let pass = self.manage_pass(*store);
                let _ = self.write(Mutation::PurgeStore { pass, limit: *limit }, None).await;
            }
            Step::MoveClock { secs } => self.now = self.now.plus_secs(*secs),
            Step::ForgetKeys { secs_ago } => {
                let before = self.now.plus_secs(-secs_ago);
                self.write(Mutation::ForgetKeys { before }, None).await.unwrap();
            }
            Step::SetPolicy { store, repeats, soft_cap, key } => {
                let all = [Repeats::Allow, Repeats::Refuse, Repeats::Merge];
                let repeats = Patch::Set(all[usize::from(*repeats)]);
                let patch = PolicyPatch { repeats, soft_cap: Patch::Set(*soft_cap) };
                let set = Mutation::SetPolicy(self.manage_pass(*store), patch);
                let _ = self.write(set, *key).await;
            }
            Step::OpenGeneration { model, is_fresh, key } => {
                self.open_generation(*model, *is_fresh, *key).await;
            }
            Step::Embed { store, generation, limit } => {
                self.embed(*store, *generation, *limit).await;
            }
            Step::PutVectors { store, generation, through, vectors } => {
                self.put_vectors(*store, *generation, *through, vectors).await;
            }
            Step::DropGeneration { generation, is_whole } => {
                let generation = self.generation(*generation);
                let limit = if *is_whole { 1000 } else { 0 };
                let drop = Mutation::DropGeneration { generation, limit };
                self.write(drop, None).await.unwrap();
            }
            Step::Read { store, reader, limit } => self.read(*store, *reader, *limit).await,
            Step::Misread { store, reader, version } => {
                self.misread(*store, *reader, *version).await;
            }
            Step::ForgetReader { reader, is_whole } => {
                self.forget_reader(*reader, *is_whole).await;
            }
        }
    }

    async fn commit(&mut self, store: usize, who: Who, edits: Vec<StampedEdit>, key: Option<u8>) {
        let Some(facts) = self.facts(store, who).await else { return };
        let Ok(pass) = policy::write(&caller(who), &facts, self.now) else { return };
        let batch = Batch { edits, cause: Cause::new(Some("req".into()), "api") };
        // What the engine does about expired memories in the way, so that histories go on.
        for _ in 0..8 {
            let commit = Mutation::Commit(pass.clone(), batch.clone());
            let result = self.write(commit, key).await;
            let Err(StorageError::Expired { memory }) = result else { return };
            self.expire(store, memory).await;
        }
    }

    /// Several edits at the same time; which one comes first is up to the engine.
    async fn commit_together(&mut self, store: usize, plans: &[(Who, EditPlan)]) {
        let mut commits = Vec::new();
        for (who, plan) in plans {
            let Some(facts) = self.facts(store, *who).await else { return };
            let Ok(pass) = policy::write(&caller(*who), &facts, self.now) else { continue };
            let edits = vec![self.stamps(|stamps| stamps.edit(plan))];
            let batch = Batch { edits, cause: Cause::new(None, "together") };
            commits.push(Mutation::Commit(pass, batch));
        }
        let admin = System::because("random histories").administer(WORKSPACE, self.now);
        let store = self.stores[store];
        let before = self.oracle.log(&admin, store, 0, 10_000).await.unwrap().len();
        let mut under_way = JoinSet::new();
        for commit in commits {
            let engine = self.engine.clone();
            under_way.spawn(async move {
                let applied = engine.write(commit.clone(), None).await;
                Asked { what: What::Write(commit, applied), during: 0..=0 }
            });
        }
        let asked = under_way.join_all().await;
        let mut log = self.engine.log(&admin, store, 0, 10_000).await.unwrap();
        assert_some_order(&self.oracle, &log.split_off(before), &asked).await;
        for one in asked {
            if let What::Write(_, Ok(applied)) = &one.what {
                self.note(&applied.receipt);
            }
        }
        self.now = Timestamp::from_micros(self.now.as_micros() + 1);
        self.compare_what_is_kept().await;
    }

    async fn expire(&mut self, store: usize, memory: MemoryId) {
        let version = VersionId::from_u128(self.next_id());
        let system = System::because("random histories");
        let pass = system.write(WORKSPACE, self.stores[store], OWNER, self.now);
        let result = self.write(Mutation::Expire { pass, memory, version }, None).await;
        if result.is_ok() {
            self.versions.push(version);
        }
    }

    async fn share(
        &mut self,
        store: usize,
        giver: Who,
        grantee: usize,
        level: u8,
        ends_in: Option<i64>,
    ) {
        let Some(facts) = self.facts(store, giver).await else { return };
        let Ok(pass) = policy::share(&caller(giver), &facts, self.now) else { return };
        let everybody = [
            Grantee::Principal(GUESTS[0]),
            Grantee::Principal(GUESTS[1]),
            Grantee::Principal(OWNER),
            Grantee::Everyone,
        ];
        let grant = Grant {
            id: GrantId::from_u128(self.next_id()),
            store: self.stores[store],
            grantee: everybody[grantee],
            level: [Level::Search, Level::Read, Level::ReadWrite][usize::from(level)],
            given_by: pass.giver(),
            expires_at: ends_in.map(|secs| self.now.plus_secs(secs)),
            created_at: self.now,
        };
        if let Ok(Receipt::Grant { grant, .. }) =
            self.write(Mutation::Share(pass, grant), None).await
        {
            self.grants.push(grant.id);
        }
    }

    /// Gives a mutation to both engines; they must answer alike.
    pub(super) async fn write(&mut self, mutation: Mutation, key: Option<u8>) -> Result<Receipt> {
        let idempotency = key.map(|key| Idempotency {
            workspace: WORKSPACE,
            scope: OWNER.as_u128(),
            key: format!("key {key}"),
            // One request in four is another one under a used key.
            fingerprint: [key % 2 + u8::from(self.last_id.is_multiple_of(4)); 32],
            now: self.now,
        });
        let found = self.engine.write(mutation.clone(), idempotency.clone()).await;
        let expected = self.oracle.write(mutation.clone(), idempotency).await;
        let (found, expected) = (in_order(found), in_order(expected));
        assert_eq!(
            format!("{found:?}"),
            format!("{expected:?}"),
            "the engine (left) and the oracle disagree about {mutation:?}"
        );
        self.now = Timestamp::from_micros(self.now.as_micros() + 1);
        self.compare_what_is_kept().await;
        let receipt = expected?.receipt;
        self.note(&receipt);
        Ok(receipt)
    }

    /// Remembers what later steps can be about.
    fn note(&mut self, receipt: &Receipt) {
        if let Receipt::Committed(outcomes) = receipt {
            for memory in outcomes.iter().map(|outcome| &outcome.memory) {
                if !self.memories.contains(&memory.id) {
                    self.memories.push(memory.id);
                }
                if !self.versions.contains(&memory.head) {
                    self.versions.push(memory.head);
                }
            }
        }
    }

    async fn facts(&self, store: usize, who: Who) -> Option<policy::Facts> {
        let (store, principal) = (self.stores[store], caller(who).principal);
        let mut found = self.engine.facts(WORKSPACE, store, principal, None).await.unwrap();
        let mut expected = self.oracle.facts(WORKSPACE, store, principal, None).await.unwrap();
        for facts in [&mut found, &mut expected].into_iter().flatten() {
            facts.grants.sort_by_key(|grant| grant.id);
        }
        assert_eq!(found, expected);
        expected
    }

    /// What an engine keeps in memory must follow every write at once.
    async fn compare_what_is_kept(&self) {
        let pass =
            System::because("random histories").search(WORKSPACE, self.stores.clone(), self.now);
        let found = self.engine.feed_ends(&pass).await.unwrap();
        assert_eq!(found, self.oracle.feed_ends(&pass).await.unwrap());
        for who in [Who::Owner, Who::Guest] {
            let found = self.engine.all_facts(&caller(who)).await.unwrap();
            let expected = self.oracle.all_facts(&caller(who)).await.unwrap();
            assert_eq!(dump::in_order(&found), dump::in_order(&expected));
        }
        self.compare_addresses().await;
    }

    pub(super) fn manage_pass(&self, store: usize) -> ManagePass {
        System::because("random histories").manage(WORKSPACE, self.stores[store], self.now)
    }

    pub(super) fn stamps<T>(&mut self, stamp: impl FnOnce(&mut Stamps<'_>) -> T) -> T {
        let mut next_id = || {
            self.last_id += 1;
            self.last_id
        };
        let (memories, now) = (&self.memories, self.now);
        stamp(&mut Stamps { memories, now, next_id: &mut next_id })
    }

    pub(super) fn next_id(&mut self) -> u128 {
        self.last_id += 1;
        self.last_id
    }

    fn memory(&self, number: usize) -> MemoryId {
        pick(&self.memories, number, MemoryId::from_u128(7))
    }
}

/// Revoked grants come in no particular order.
fn in_order(result: Result<Applied>) -> Result<Applied> {
    result.map(|mut applied| {
        if let Receipt::Revoked(ids)
        | Receipt::Grant { revoked: ids, .. }
        | Receipt::MemberRemoved { revoked: ids, .. } = &mut applied.receipt
        {
            ids.sort();
        }
        applied
    })
}

pub(super) fn caller(who: Who) -> Caller {
    let principal = match who {
        Who::Owner | Who::OwnersModel => OWNER,
        Who::Guest => GUESTS[0],
        Who::OtherGuest => GUESTS[1],
    };
    let is_model = who == Who::OwnersModel;
    Caller {
        acts_for_agents: false,
        memory: loci_model::MemorySwitches::default(),
        workspace: WORKSPACE,
        principal,
        is_admin: false,
        actor: Actor::Key(KeyId::from_u128(principal.as_u128())),
        session: None,
        session_user: loci_model::SessionUser::Unsaid,
        audience: if is_model { Audience::Model } else { Audience::Host },
        scope: KeyScope::FULL,
        expires_at: None,
    }
}
