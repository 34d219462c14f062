//! What search indexes are made of: what a reader gets of its stores, and that nothing is among it
//! that the reader could not get.

use super::fixture::*;
use super::session;
use loci_model::policy::{Facts, SearchPass};
use loci_model::{
    Access, Audience, Caller, Level, Memory, MemoryId, Principal, PrincipalId, PrincipalKind,
    Store, StoreId, StorePolicy, View, Visibility, WorkspaceId,
};
use loci_storage::{ChangedTexts, Mutation, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

fn ids(memories: &[Memory]) -> Vec<MemoryId> {
    memories.iter().map(|memory| memory.id).collect()
}

/// A store with one memory for everybody, one for hosts and several that no search may show.
struct Mixed {
    world: World,
    shown: MemoryId,
    internal: MemoryId,
    out_of_sight: Vec<MemoryId>,
}

impl Mixed {
    async fn new(db: Db) -> Self {
        let world = World::new(db).await;
        let expired = world.put_with("/over", "word", until(world.in_secs(2))).await.id;
        let sealed = world.edit(put_sealed("/sealed", b"word")).await.unwrap().memory.id;
        let internal = world.put_with("/in", "word", shown_as(Visibility::Internal)).await.id;
        let quarantined = shown_as(Visibility::Quarantine);
        world.put_with("/bad", "word", quarantined).await;
        world.edit(remove("/bad")).await.unwrap();
        let removed = world.put("/removed", "word").await.id;
        world.edit(remove("/removed")).await.unwrap();
        let shown = world.put("/out", "word").await.id;
        world.move_clock(10);
        Self { world, shown, internal, out_of_sight: vec![expired, sealed, removed] }
    }

    /// What each audience may get.
    async fn passes(&self) -> [(SearchPass, Vec<MemoryId>); 2] {
        [
            (self.world.search_pass(), vec![self.internal, self.shown]),
            (self.world.model_search_pass().await, vec![self.shown]),
        ]
    }
}

async fn other_store(world: &World) -> (StoreId, Memory) {
    let other = world.new_store(StorePolicy::default()).await.id;
    let pass = world.system().write(world.workspace, other, world.owner, world.now());
    let there = world.commit_as(pass, vec![put("/1", "word")]).await.unwrap();
    (other, there[0].memory.clone())
}

async fn changed(world: &World, after: u64, limit: usize) -> ChangedTexts {
    let pass = world.search_pass();
    world.storage.changed_texts(&pass, world.store, after, limit).await.unwrap()
}

pub async fn texts_come_oldest_first_in_pages(db: Db) {
    let world = World::new(db).await;
    let mut made = Vec::new();
    for path in ["/c", "/a", "/b", "/d", "/e"] {
        made.push(world.put(path, path).await.id);
    }
    world.put("/c", "again").await;
    let texts = world.texts_for(&world.search_pass()).await;
    assert_eq!(ids(&texts), made);
    assert_eq!(texts[0], world.get("/c").await.unwrap());
}

pub async fn pages_go_on_whatever_changed(db: Db) {
    let world = World::new(db).await;
    let mut made = Vec::new();
    for path in ["/1", "/2", "/3", "/4", "/5"] {
        made.push(world.put(path, path).await.id);
    }
    let pass = world.search_pass();
    let page = world.storage.texts(&pass, world.store, 0, 2).await.unwrap();
    assert_eq!(ids(&page.memories), made[..2]);
    for path in ["/1", "/2", "/4"] {
        world.edit(remove(path)).await.unwrap();
    }
    let next = page.next.unwrap();
    let page = world.storage.texts(&pass, world.store, next, 2).await.unwrap();
    assert_eq!((ids(&page.memories), page.next), (vec![made[2], made[4]], None));
}

pub async fn texts_are_what_the_reader_may_get(db: Db) {
    let mixed = Mixed::new(db).await;
    for (pass, expected) in mixed.passes().await {
        assert_eq!(ids(&mixed.world.texts_for(&pass).await), expected);
    }
}

pub async fn an_edit_changes_the_text(db: Db) {
    let world = World::new(db).await;
    let id = world.put("/1", "alpha beta").await.id;
    world.put("/1", "beta gamma").await;
    assert!(world.find(&["alpha"]).await.is_empty());
    assert_eq!(world.find(&["gamma"]).await, [id]);
    world.edit(put_sealed("/1", b"beta gamma")).await.unwrap();
    assert!(world.find(&["gamma"]).await.is_empty());
    world.put("/1", "gamma").await;
    world.edit(describe(id, tagged(&["label"]))).await.unwrap();
    world.edit(rename(id, "/moved")).await.unwrap();
    let texts = world.texts_for(&world.search_pass()).await;
    assert_eq!(texts[0].path.as_str(), "/moved");
    assert_eq!(texts[0].attributes.tags, ["label"]);
    world.assert_sound().await;
}

pub async fn only_the_stores_of_the_pass_are_read(db: Db) {
    let world = World::new(db).await;
    let here = world.put("/1", "word").await;
    let (other, there) = other_store(&world).await;
    let (here_id, there_id) = ((world.store, here.id), (other, there.id));
    for (stores, expected) in [
        (vec![world.store], vec![here.id]),
        (vec![other], vec![there.id]),
        (vec![world.store, other], vec![there.id, here.id]),
        (vec![], vec![]),
    ] {
        let pass = world.system().search(world.workspace, stores.clone(), world.now());
        let asked = [there_id, here_id, (other, here.id), (world.store, there.id)];
        let found = world.storage.found(&pass, &asked, View::Basic).await.unwrap();
        assert_eq!(ids(&found), expected);
        for store in [world.store, other] {
            let texts = world.storage.texts(&pass, store, 0, 10).await;
            let changes = world.storage.changed_texts(&pass, store, 0, 10).await;
            if stores.contains(&store) {
                assert_eq!(texts.unwrap().memories.len(), 1);
                assert_eq!(changes.unwrap().memories.len(), 1);
            } else {
                assert_refused!(texts, StorageError::NotFound(_));
                assert_refused!(changes, StorageError::NotFound(_));
            }
        }
    }
}

pub async fn a_removed_store_gives_nothing(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/1", "word").await;
    let pass = world.search_pass();
    assert_eq!(world.storage.feed_ends(&pass).await.unwrap().len(), 1);
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    let store = world.store;
    let storage = &world.storage;
    assert_refused!(storage.texts(&pass, store, 0, 10).await, StorageError::NotFound(_));
    assert_refused!(storage.changed_texts(&pass, store, 0, 10).await, StorageError::NotFound(_));
    let found = storage.found(&pass, &[(store, memory.id)], View::Full).await.unwrap();
    assert!(found.is_empty());
    assert!(storage.feed_ends(&pass).await.unwrap().is_empty());
    let owner = world.caller(world.owner, Audience::Host);
    assert!(storage.all_facts(&owner).await.unwrap().is_empty());
}

pub async fn changed_texts_tell_what_became_of_them(db: Db) {
    let world = World::new(db).await;
    let nothing = changed(&world, 0, 10).await;
    assert_eq!(nothing, ChangedTexts { through: 0, memories: vec![] });
    let kept = world.put("/kept", "one").await.id;
    let gone = world.put("/gone", "word").await.id;
    world.put("/kept", "two").await;
    world.edit(remove("/gone")).await.unwrap();
    let all = changed(&world, 0, 10).await;
    assert_eq!(all.through, 4);
    let now = world.get("/kept").await;
    assert_eq!(all.memories, [(kept, now.clone()), (gone, None)]);
    let later = changed(&world, 2, 10).await;
    assert_eq!((later.through, later.memories), (4, vec![(kept, now), (gone, None)]));
    let nothing = changed(&world, 4, 10).await;
    assert_eq!(nothing, ChangedTexts { through: 4, memories: vec![] });
}

pub async fn changed_texts_go_through_the_feed_in_steps(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/1", "a").await;
    world.put("/1", "b").await;
    world.put("/1", "c").await;
    let second = world.put("/2", "d").await.id;
    world.write(Mutation::Redact(world.manage_pass(), first.head)).await.unwrap();
    let mut after = 0;
    let mut steps = Vec::new();
    loop {
        let step = changed(&world, after, 2).await;
        if step.through == after {
            break;
        }
        after = step.through;
        steps.push((step.through, step.memories.iter().map(|(id, _)| *id).collect::<Vec<_>>()));
    }
    let first = first.id;
    assert_eq!(steps, [(2, vec![first]), (4, vec![first, second]), (5, vec![first])]);
}

pub async fn changed_texts_are_what_the_reader_may_get(db: Db) {
    let mixed = Mixed::new(db).await;
    let world = &mixed.world;
    for (pass, expected) in mixed.passes().await {
        let all = world.storage.changed_texts(&pass, world.store, 0, 100).await.unwrap();
        assert_eq!(all.through, world.feed().await.len() as u64);
        assert_eq!(all.memories.len(), 6, "each is named once");
        let gotten = all.memories.iter().filter(|(_, memory)| memory.is_some());
        assert_eq!(gotten.map(|(id, _)| *id).collect::<Vec<_>>(), expected);
    }
}

pub async fn hiding_and_showing_are_changes(db: Db) {
    let world = World::new(db).await;
    let id = world.put("/1", "word").await.id;
    let pass = world.model_search_pass().await;
    let now = async |after| {
        let step = world.storage.changed_texts(&pass, world.store, after, 10).await.unwrap();
        (step.through, step.memories.into_iter().map(|(_, memory)| memory.is_some()).collect())
    };
    assert_eq!(now(0).await, (1, vec![true]));
    world.edit(describe(id, shown_as(Visibility::Internal))).await.unwrap();
    assert_eq!(now(1).await, (2, vec![false]));
    world.edit(describe(id, shown_as(Visibility::Context))).await.unwrap();
    assert_eq!(now(2).await, (3, vec![true]));
}

pub async fn found_memories_come_in_the_order_asked_for(db: Db) {
    let world = World::new(db).await;
    let one = world.put("/1", "x").await.id;
    let two = world.put("/2", "y").await.id;
    let asked: Vec<_> =
        [two, MemoryId::from_u128(next_bits()), one, two].map(|id| (world.store, id)).into();
    let pass = world.search_pass();
    let found = world.storage.found(&pass, &asked, View::Basic).await.unwrap();
    assert_eq!(ids(&found), [two, one, two]);
    assert!(found.iter().all(|memory| memory.content.is_none()));
    let found = world.storage.found(&pass, &asked[..1], View::Full).await.unwrap();
    assert_eq!(found[0], world.get("/2").await.unwrap());
}

pub async fn nothing_is_found_that_the_reader_may_not_get(db: Db) {
    let mixed = Mixed::new(db).await;
    let world = &mixed.world;
    let mut asked = vec![mixed.internal, mixed.shown];
    asked.extend(&mixed.out_of_sight);
    let asked: Vec<_> = asked.into_iter().map(|id| (world.store, id)).collect();
    for (pass, expected) in mixed.passes().await {
        let found = world.storage.found(&pass, &asked, View::Full).await.unwrap();
        assert_eq!(ids(&found), expected);
    }
}

pub async fn feed_ends_count_every_write_at_once(db: Db) {
    let world = World::new(db).await;
    let (other, _) = other_store(&world).await;
    let gone = StoreId::from_u128(next_bits());
    let ends = async || {
        let pass =
            world.system().search(world.workspace, vec![other, gone, world.store], world.now());
        let ends = world.storage.feed_ends(&pass).await.unwrap();
        assert!(ends.iter().all(|end| end.vectors.is_empty()));
        ends.iter().map(|end| (end.store, end.seq)).collect::<Vec<_>>()
    };
    assert_eq!(ends().await, [(other, 1), (world.store, 0)]);
    for round in 1..=3 {
        world.put("/1", &format!("text {round}")).await;
        assert_eq!(ends().await, [(other, 1), (world.store, round)]);
    }
    let edits = vec![put("/2", "a"), put("/3", "b"), remove("/2")];
    world.commit(edits).await.unwrap();
    assert_eq!(ends().await, [(other, 1), (world.store, 6)]);
    let refused = world.commit(vec![put("/4", "a"), remove("/nothing")]).await;
    assert!(refused.is_err());
    assert_eq!(ends().await, [(other, 1), (world.store, 6)]);
}

async fn reach(world: &World, caller: &Caller) -> Vec<StoreId> {
    let known = world.storage.all_facts(caller).await.unwrap();
    for facts in known.iter() {
        let alone = world
            .storage
            .facts(world.workspace, facts.store.id, caller.principal, caller.session)
            .await;
        assert_eq!(Some(facts), alone.unwrap().as_ref());
    }
    known.iter().map(|facts: &Facts| facts.store.id).collect()
}

pub async fn all_facts_name_the_stores_of_a_caller(db: Db) {
    let world = World::new(db).await;
    let (owned, _) = other_store(&world).await;
    let guest = world.new_principal("guest").await;
    let owner = world.caller(world.owner, Audience::Host);
    let guest = world.caller(guest, Audience::Host);
    let admin = Caller { is_admin: true, ..guest.clone() };
    assert_eq!(reach(&world, &owner).await, [world.store, owned]);
    assert!(reach(&world, &guest).await.is_empty());
    assert_eq!(reach(&world, &admin).await, [world.store, owned]);
    let grant = super::grant::share(&world, guest.principal, Level::Search).await;
    assert_eq!(reach(&world, &guest).await, [world.store]);
    world.write(Mutation::Revoke(world.share_pass(), grant.id)).await.unwrap();
    assert!(reach(&world, &guest).await.is_empty());
    super::grant::share_with_everyone(&world, Level::Read).await;
    assert_eq!(reach(&world, &guest).await, [world.store]);
    let made = Store { owner: guest.principal, ..world.plan_store(StorePolicy::default()) };
    world.write(Mutation::CreateStore(made.clone())).await.unwrap();
    assert_eq!(reach(&world, &guest).await, [world.store, made.id]);
    assert_eq!(reach(&world, &admin).await, [world.store, owned, made.id]);
}

pub async fn all_facts_of_a_session_are_those_it_attaches(db: Db) {
    let world = World::new(db).await;
    let (attached, _) = other_store(&world).await;
    let gone = StoreId::from_u128(next_bits());
    let made = session::attaching(&world, &[attached, gone, attached], Access::ReadOnly).await;
    let admin = Caller { is_admin: true, ..world.caller(world.owner, Audience::Host) };
    let caller = Caller { session: Some(made), ..admin };
    assert_eq!(reach(&world, &caller).await, [attached]);
    let change = loci_storage::SessionChange::Archive;
    let (workspace, now) = (world.workspace, world.now());
    let archive = Mutation::ChangeSession { workspace, session: made, change, now };
    world.write(archive).await.unwrap();
    assert!(reach(&world, &caller).await.is_empty());
}

pub async fn all_facts_stay_in_their_workspace(db: Db) {
    let world = World::new(db).await;
    let workspace = WorkspaceId::from_u128(next_bits());
    world.write(Mutation::CreateWorkspace(workspace, world.now())).await.unwrap();
    let stranger = Principal {
        memory: loci_model::MemorySwitches::default(),
        id: PrincipalId::from_u128(next_bits()),
        workspace,
        kind: PrincipalKind::User,
        name: "stranger".into(),
        is_admin: true,
        created_at: world.now(),
    };
    let principal = stranger.id;
    world.write(Mutation::CreatePrincipal(stranger)).await.unwrap();
    super::grant::share_with_everyone(&world, Level::Read).await;
    for is_admin in [false, true] {
        let here = world.caller(principal, Audience::Host);
        let caller = Caller { workspace, is_admin, ..here };
        assert!(reach(&world, &caller).await.is_empty());
    }
}
