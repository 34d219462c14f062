//! Moving everything from one engine to another: equal at the end, finished after being cut off
//! anywhere, refused where something else is, and a comparison that sees every difference.

use loci_engine::transfer::{Progress, Step, Tally, Transfer, TransferError};
use loci_model::query::{CreatedQuery, Direction, SessionQuery};
use loci_model::store::{OnRemove, Repeats};
use loci_model::{
    Access, ApiKey, Attachment, Audience, Grant, GrantId, Grantee, KeyId, KeyScope, Level,
    PrincipalId, Session, SessionId, StoreId, StorePolicy, VersionId, WorkspaceId,
};
use loci_storage::{
    GenerationId, Mutation, NewReading, ReadingBatch, Receipt, SessionChange, Spent, Storage,
    VectorBatch, VectorSource,
};
use loci_storage_contract::fixture::*;
use loci_storage_memory::MemStorage;
use std::sync::{Arc, Mutex};

const DIMS: u32 = 2;
/// Entries moved at once, and several times as many.
const PAGE: usize = 20;
const MANY: u64 = 70;

fn quiet(_: Progress) {}

async fn moved(from: &Arc<MemStorage>, to: &Arc<MemStorage>) -> Result<Tally, TransferError> {
    Transfer::new(from.clone(), to.clone()).in_pages_of(PAGE).run(&quiet).await
}

async fn compared(from: &Arc<MemStorage>, to: &Arc<MemStorage>) -> Result<Tally, TransferError> {
    Transfer::new(from.clone(), to.clone()).in_pages_of(7).verify(&quiet).await
}

fn policy() -> StorePolicy {
    StorePolicy { on_remove: OnRemove::EraseAfter { secs: 60 }, ..StorePolicy::default() }
}

/// A world with everything there is in it.
async fn furnished(storage: &Arc<MemStorage>) -> World {
    let world = World::with_policy(storage.clone(), policy()).await;
    let old = generation(&world, "old").await;
    let a = world.put_with("/a", "one", tagged(&["t"])).await;
    world.edit(put_in(PrincipalId::from_u128(77), "/a", "theirs")).await.unwrap();
    world.edit(put_sealed("/sealed", &[0, 255])).await.unwrap();
    world.put("/a", "two").await;
    world.edit(rename(a.id, "/b/c")).await.unwrap();
    world.put("/gone", "x").await;
    world.edit(remove("/gone")).await.unwrap();
    embed(&world, old, u64::MAX).await;
    let doomed = world.put("/doomed", "canary").await;
    let (pass, version) = (world.manage_pass(), VersionId::from_u128(next_bits()));
    world.write(Mutation::Erase { pass, memory: doomed.id, version }).await.unwrap();
    world.write(Mutation::Redact(world.manage_pass(), a.head)).await.unwrap();
    world.put_with("/over", "expired", until(world.in_secs(2))).await;
    let inner =
        world.put_with("/inner", "hidden", shown_as(loci_model::Visibility::Internal)).await;
    read(&world, &[inner.head]).await;
    world.move_clock(100);
    let new = generation(&world, "new").await;
    embed(&world, new, 3).await;
    people(&world).await;
    let key = idempotency(world.workspace, world.owner.as_u128(), "k", 1, world.now());
    let commit = Mutation::Commit(world.write_pass(), batch(vec![put("/once", "only once")]));
    storage.write(commit, Some(key)).await.unwrap();
    world.move_clock(1);
    archived(&world).await;
    let removed = world.new_store(StorePolicy::default()).await.id;
    let pass = world.system().manage(world.workspace, removed, world.now());
    world.write(Mutation::RemoveStore(pass)).await.unwrap();
    world
}

async fn generation(world: &World, model: &str) -> GenerationId {
    let (model, now) = (model.to_owned(), world.now());
    let open = Mutation::OpenGeneration { model, dims: DIMS, is_fresh: true, now };
    match world.write(open).await.unwrap() {
        Receipt::Generation(opened) => opened.id,
        other => panic!("{other:?}"),
    }
}

/// Gives every text of the world's store vectors, and moves the mark.
async fn embed(world: &World, generation: GenerationId, through: u64) {
    let pass = world.search_pass();
    let page = world.storage.embeddable(&pass, world.store, generation, 0, 1000).await.unwrap();
    let made = |version: VersionId| {
        let byte = generation.0.to_be_bytes()[3];
        (version, VectorSource::Made(vec![byte; 4 * DIMS as usize]))
    };
    let vectors = page.texts.into_iter().map(|text| made(text.version)).collect();
    let (workspace, store) = (world.workspace, world.store);
    let batch = VectorBatch { workspace, generation, store, through, vectors, words: Vec::new() };
    world.write(Mutation::PutVectors(batch)).await.unwrap();
}

/// Has versions read, at some cost.
async fn read(world: &World, versions: &[VersionId]) {
    let found = |version: &VersionId| NewReading {
        version: *version,
        claims: "[]".into(),
        at: world.now(),
    };
    let batch = ReadingBatch {
        workspace: world.workspace,
        store: world.store,
        reader: "test:m".into(),
        through: 5,
        spent: Spent { day: 7, requests: 2, tokens: 30 },
        readings: versions.iter().map(found).collect(),
    };
    world.write(Mutation::PutReadings(batch)).await.unwrap();
}

async fn people(world: &World) {
    let guest = world.new_principal("guest").await;
    for (grantee, level) in
        [(Grantee::Principal(guest), Level::ReadWrite), (Grantee::Everyone, Level::Search)]
    {
        let grant = Grant {
            id: GrantId::from_u128(next_bits()),
            store: world.store,
            grantee,
            level,
            given_by: world.owner,
            expires_at: Some(world.in_secs(1000)),
            created_at: world.now(),
        };
        world.write(Mutation::Share(world.share_pass(), grant)).await.unwrap();
    }
    let session = Session {
        id: SessionId::from_u128(next_bits()),
        workspace: world.workspace,
        owner: guest,
        title: Some("talk".into()),
        metadata: [("k".to_owned(), "v".to_owned())].into(),
        agent_id: "agent".into(),
        agent_version: 3,
        details: "{}".into(),
        attachments: vec![Attachment {
            store: world.store,
            access: Access::ReadOnly,
            instructions: None,
            name: "notes".into(),
            description: String::new(),
            mount_path: "/mnt".into(),
        }],
        created_at: world.now(),
        updated_at: world.now(),
        archived_at: None,
    };
    let id = session.id;
    world.write(Mutation::CreateSession(session)).await.unwrap();
    let change = Mutation::ChangeSession {
        workspace: world.workspace,
        session: id,
        change: SessionChange::Archive,
        now: world.now(),
    };
    world.write(change).await.unwrap();
    for (hash, session) in [(1, None), (2, Some(id))] {
        let key = ApiKey {
            acts_for_agents: false,
            id: KeyId::from_u128(next_bits()),
            workspace: world.workspace,
            principal: guest,
            name: format!("key {hash}"),
            hint: "loci_abc".into(),
            secret_hash: [hash; 32],
            scope: KeyScope::FULL,
            session,
            audience: Audience::Host,
            created_at: world.now(),
            expires_at: None,
            revoked_at: None,
        };
        let revoked = key.id;
        world.write(Mutation::CreateKey(key)).await.unwrap();
        if hash == 1 {
            world.write(Mutation::RevokeKey(world.admin_pass(), revoked)).await.unwrap();
        }
    }
}

/// An archived store, and one that merges repeats.
async fn archived(world: &World) {
    for is_archived in [true, false] {
        let store = world.new_store(StorePolicy::default()).await.id;
        let pass = world.system().write(world.workspace, store, world.owner, world.now());
        let edits = vec![put("/x/y", "same"), put("/z", "same")];
        world.commit_as(pass, edits).await.unwrap();
        let manage = || world.system().manage(world.workspace, store, world.now());
        let set = Mutation::SetPolicy(manage(), Repeats::Merge.into());
        world.write(set).await.unwrap();
        if is_archived {
            world.write(Mutation::ArchiveStore(manage())).await.unwrap();
        }
    }
}

async fn fill(world: &World, count: u64) -> StoreId {
    let store = world.new_store(StorePolicy::default()).await.id;
    for start in (0..count).step_by(100) {
        let pass = world.system().write(world.workspace, store, world.owner, world.now());
        let edits = (start..count.min(start + 100)).map(|n| put(&format!("/{n}"), "text"));
        world.commit_as(pass, edits.collect()).await.unwrap();
    }
    store
}

#[tokio::test]
async fn everything_moves_and_is_equal() {
    let (from, to) = (Arc::new(MemStorage::new()), Arc::new(MemStorage::new()));
    let world = furnished(&from).await;
    let other = World::new(from.clone() as Arc<dyn Storage>).await;
    fill(&other, MANY).await;
    let seen = Mutex::new(Vec::new());
    let watch = |progress: Progress| seen.lock().unwrap().push(progress);
    let tally = Transfer::new(from.clone(), to.clone()).run(&watch).await.unwrap();
    let counted = (tally.workspaces, tally.principals, tally.keys, tally.sessions, tally.requests);
    assert_eq!(counted, (2, 3, 2, 1, 1));
    let counted = (tally.stores, tally.grants, tally.left_behind);
    assert_eq!(counted, (3 + 2, 2, 1));
    assert!(tally.entries > MANY && tally.memories > MANY && tally.vectors > 4, "{tally:?}");
    assert_eq!(tally.readings, 1);

    let seen = seen.into_inner().unwrap();
    for step in [Step::Moving, Step::Verifying] {
        let mut steps = seen.iter().filter(|progress| progress.step == step);
        let last = steps.next_back().unwrap();
        assert_eq!((last.done, last.total), (tally.entries, tally.entries), "{step:?}");
    }
    assert_eq!(moved(&from, &to).await.unwrap(), tally, "a second time changes nothing");
    assert_eq!(compared(&to, &from).await.unwrap(), Tally { left_behind: 0, ..tally });

    // The request that was made there is repeated here, with no second effect.
    let key = idempotency(world.workspace, world.owner.as_u128(), "k", 1, world.now());
    let commit = Mutation::Commit(world.write_pass(), batch(vec![put("/once", "only once")]));
    let there = from.recall(&key).await.unwrap().unwrap();
    let here = to.write(commit, Some(key)).await.unwrap();
    assert!(here.is_replay);
    assert_eq!(here.receipt, there);
    assert_eq!(to.check().await.unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn a_move_that_was_cut_off_goes_on() {
    let from = Arc::new(MemStorage::new());
    let world = furnished(&from).await;
    fill(&world, MANY).await;
    let whole = compared(&from, &from).await.unwrap();
    let mut cuts = 0;
    loop {
        let to = Arc::new(MemStorage::new());
        to.stop_after(Some(cuts));
        let first = moved(&from, &to).await;
        to.stop_after(None);
        match first {
            Ok(tally) => {
                assert_eq!(tally, whole);
                break;
            }
            Err(TransferError::Storage { side, .. }) => assert_eq!(side, "the destination"),
            Err(other) => panic!("{other}"),
        }
        assert!(compared(&from, &to).await.is_err(), "{cuts} writes are not all of it");
        assert_eq!(moved(&from, &to).await.unwrap(), whole, "cut off after {cuts} writes");
        cuts += 1;
    }
    assert!(cuts > 15, "only {cuts} writes");
}

#[tokio::test]
async fn nobody_gets_in_before_all_is_there() {
    let from = Arc::new(MemStorage::new());
    let world = furnished(&from).await;
    for cuts in 0.. {
        let to = Arc::new(MemStorage::new());
        to.stop_after(Some(cuts));
        let is_whole = moved(&from, &to).await.is_ok();
        let opens = to.key_by_hash(&[2; 32]).await.unwrap().is_some();
        if opens {
            let stats = to.stats(&world.read_pass()).await.unwrap();
            assert_eq!(stats, from.stats(&world.read_pass()).await.unwrap());
        }
        if is_whole {
            assert!(opens);
            break;
        }
    }
}

#[tokio::test]
async fn a_source_that_was_never_used_is_refused() {
    let (from, to) = (Arc::new(MemStorage::new()), Arc::new(MemStorage::new()));
    assert!(matches!(moved(&from, &to).await, Err(TransferError::Nothing)));
    assert!(matches!(compared(&from, &to).await, Err(TransferError::Nothing)));
}

/// What must not happen to a destination between two moves: each makes it something else.
async fn meddle(world: &World, how: usize) -> Option<()> {
    let manage = || world.manage_pass();
    let mutation = match how {
        0 => Mutation::CreateWorkspace(WorkspaceId::from_u128(next_bits()), world.now()),
        1 => {
            world.new_principal("stranger").await;
            return Some(());
        }
        2 => {
            world.new_store(StorePolicy::default()).await;
            return Some(());
        }
        3 => Mutation::Commit(world.write_pass(), batch(vec![put("/new", "x")])),
        4 => Mutation::RemoveStore(manage()),
        5 => Mutation::ArchiveStore(manage()),
        6 => {
            generation(world, "third").await;
            return Some(());
        }
        7 => {
            let grants = world.storage.grants(&world.read_pass()).await.unwrap();
            let grant = Grant { level: Level::Read, ..grants[0].clone() };
            Mutation::Share(world.share_pass(), grant)
        }
        8 => {
            let keys = world.storage.keys(&world.admin_pass()).await.unwrap();
            Mutation::RevokeKey(world.admin_pass(), keys[1].id)
        }
        9 => {
            let created = CreatedQuery {
                since: None,
                until: None,
                include_archived: true,
                direction: Direction::Ascending,
                after: None,
                limit: 1,
            };
            let query = SessionQuery { created, store: None, agent_id: None, agent_version: None };
            let found = world.storage.list_sessions(world.workspace, None, &query).await.unwrap();
            let (session, now) = (found.items[0].id, world.now());
            let change = SessionChange::Describe { title: Some(None), metadata: [].into() };
            Mutation::ChangeSession { workspace: world.workspace, session, change, now }
        }
        10 => {
            let key = idempotency(world.workspace, world.owner.as_u128(), "k2", 1, world.now());
            let again = Mutation::DescribeStore(manage(), Default::default());
            world.storage.write(again, Some(key)).await.unwrap();
            return Some(());
        }
        _ => return None,
    };
    world.write(mutation).await.unwrap();
    Some(())
}

#[tokio::test]
async fn a_destination_that_holds_something_else_is_refused_before_anything_is_written() {
    for how in 0.. {
        let (from, to) = (Arc::new(MemStorage::new()), Arc::new(MemStorage::new()));
        let mut world = furnished(&from).await;
        moved(&from, &to).await.unwrap();
        world.storage = to.clone();
        world.move_clock(10);
        let Some(()) = meddle(&world, how).await else { break };
        // Had it tried to write, it would say so.
        to.stop_after(Some(0));
        match moved(&from, &to).await {
            Err(TransferError::Foreign(what)) => assert!(!what.is_empty()),
            other => panic!("{how}: {other:?}"),
        }
        match compared(&from, &to).await {
            Err(TransferError::Different(what)) => assert!(!what.is_empty()),
            other => panic!("{how}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_difference_is_named_with_its_store() {
    let (from, to) = (Arc::new(MemStorage::new()), Arc::new(MemStorage::new()));
    let mut world = furnished(&from).await;
    moved(&from, &to).await.unwrap();
    world.storage = from.clone();
    world.put("/late", "written to the source meanwhile").await;
    let Err(TransferError::Different(lines)) = compared(&from, &to).await else {
        panic!("the sides differ");
    };
    let store = world.store.to_string();
    assert!(lines.iter().all(|line| line.contains(&store)), "{lines:?}");
    for part in ["memories", "versions", "changes of the feed", "counters"] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:?}");
    }
    assert!(lines.iter().all(|line| !line.contains("late")), "no path is told: {lines:?}");
}
