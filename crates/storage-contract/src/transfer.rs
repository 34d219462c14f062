//! What it takes to move everything from one engine to another: telling all there is, and taking in
//! sessions, keys, remembered requests, memberships and events as they were.

use super::fixture::*;
use super::{key, session};
use loci_model::event::kind;
use loci_model::{
    Access, ApiKey, Event, GrantId, Happening, KeyId, Membership, MemoryId, Operation, PrincipalId,
    PrincipalKind, Session, SessionId, StorePolicy, VersionId, WorkspaceId,
};
use loci_storage::log::ImportItem;
use loci_storage::{
    Idempotency, Mutation, OutcomeRefs, Receipt, ReceiptRefs, Remembered, Result, Storage,
    StorageError,
};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn import(world: &World, items: Vec<ImportItem>) -> Result<u64> {
    match world.write(Mutation::Import(world.admin_pass(), items)).await? {
        Receipt::Imported(count) => Ok(count),
        other => panic!("{other:?}"),
    }
}

/// The owner's own request number `n`.
fn request(world: &World, n: u8) -> Idempotency {
    idempotency(world.workspace, world.owner.as_u128(), &format!("k{n:03}"), n, world.now())
}

async fn remembered(world: &World) -> Vec<Remembered> {
    world.storage.remembered(&world.admin_pass(), None, 1000).await.unwrap()
}

pub async fn workspaces_are_told_oldest_first(db: Db) {
    assert_eq!(db.workspaces().await.unwrap(), []);
    let world = World::new(db).await;
    let (at, earlier) = (world.now(), world.in_secs(-100));
    let (second, oldest) =
        (WorkspaceId::from_u128(next_bits()), WorkspaceId::from_u128(next_bits()));
    world.write(Mutation::CreateWorkspace(second, at)).await.unwrap();
    world.write(Mutation::CreateWorkspace(oldest, earlier)).await.unwrap();
    let told = world.storage.workspaces().await.unwrap();
    let first_at = told[1].1;
    assert_eq!(told, [(oldest, earlier), (world.workspace, first_at), (second, at)]);
}

pub async fn the_newest_time_follows_what_is_written(db: Db) {
    let nobodys = WorkspaceId::from_u128(next_bits());
    let world = World::new(db).await;
    let newest = || async { world.storage.newest_time(world.workspace).await.unwrap() };
    assert_eq!(world.storage.newest_time(nobodys).await.unwrap(), None);
    world.put("/a.md", "text").await;
    let change = world.storage.changes(&world.read_pass(), 0, 10).await.unwrap();
    assert_eq!(newest().await, Some(change[0].at), "a change");
    let at = world.in_secs(1_000);
    let plan = Session { created_at: at, updated_at: at, ..session::plan(&world) };
    world.write(Mutation::CreateSession(plan)).await.unwrap();
    assert_eq!(newest().await, Some(at), "a session");
    let at = world.in_secs(2_000);
    let happening = Happening { at, ..world.happening(kind::SEARCHED) };
    world.write(Mutation::Record(happening)).await.unwrap();
    assert_eq!(newest().await, Some(at), "an event");
    assert_eq!(world.storage.newest_time(nobodys).await.unwrap(), None);
}

pub async fn sessions_and_keys_are_imported(db: Db) {
    let world = World::new(db).await;
    let other = world.new_store(StorePolicy::default()).await.id;
    let plan = session::plan(&world);
    let attachments = vec![
        session::attach(other, Access::ReadOnly),
        session::attach(world.store, Access::ReadWrite),
    ];
    let archived_at = Some(world.in_secs(7));
    let talk = Session { attachments, archived_at, ..plan };
    let revoked = ApiKey {
        session: Some(talk.id),
        expires_at: Some(world.in_secs(50)),
        revoked_at: Some(world.in_secs(9)),
        ..key::plan(&world, 1)
    };
    let items = || {
        vec![
            ImportItem::Session(Box::new(talk.clone())),
            ImportItem::Key(Box::new(revoked.clone())),
        ]
    };
    assert_eq!(import(&world, items()).await.unwrap(), 2);
    assert_eq!(import(&world, items()).await.unwrap(), 0, "equal ones are passed over");
    let found = world.storage.session(world.workspace, talk.id).await.unwrap();
    assert_eq!(found, Some(talk));
    assert_eq!(world.storage.keys(&world.admin_pass()).await.unwrap(), [revoked]);
    world.assert_sound().await;
}

pub async fn an_imported_key_opens_what_it_opened(db: Db) {
    let world = World::new(db).await;
    let mine = key::plan(&world, 3);
    assert_eq!(world.storage.key_by_hash(&[3; 32]).await.unwrap(), None);
    import(&world, vec![ImportItem::Key(Box::new(mine.clone()))]).await.unwrap();
    let (found, principal) = world.storage.key_by_hash(&[3; 32]).await.unwrap().unwrap();
    assert_eq!((found, principal.id), (mine, world.owner));
}

pub async fn a_request_is_repeated_where_it_was_imported(db: Db) {
    let world = World::new(db).await;
    let edits = vec![put("/a", "one"), put("/a", "one"), put("/b", "two"), remove("/b")];
    let first = world.commit(edits).await.unwrap();
    let refs = ReceiptRefs::from(&Receipt::Committed(first.clone()));
    let seen = Remembered { idempotency: request(&world, 1), refs };
    let item = || vec![ImportItem::Remembered(Box::new(seen.clone()))];
    assert_eq!(import(&world, item()).await.unwrap(), 1);
    assert_eq!(import(&world, item()).await.unwrap(), 0, "equal ones are passed over");
    let again = Mutation::Commit(world.write_pass(), batch(vec![put("/c", "never")]));
    let again = world.storage.write(again, Some(request(&world, 1))).await.unwrap();
    assert!(again.is_replay);
    assert_eq!(again.receipt, Receipt::Committed(first));
    assert_eq!(world.get("/c").await, None);
    let other = Idempotency { fingerprint: [9; 32], ..request(&world, 1) };
    assert_refused!(world.storage.recall(&other).await, StorageError::KeyReused);
}

pub async fn every_kind_of_receipt_is_carried_over(db: Db) {
    let world = World::new(db).await;
    let (store, memory) = (world.store, MemoryId::from_u128(next_bits()));
    let (version, session) = (VersionId::from_u128(next_bits()), SessionId::from_u128(next_bits()));
    let outcome = |operation| OutcomeRefs { store, head: version, operation };
    let kinds = [
        ReceiptRefs::Principal(world.owner),
        ReceiptRefs::Key(KeyId::from_u128(next_bits())),
        ReceiptRefs::Store(store),
        ReceiptRefs::StoreRemoved(store),
        ReceiptRefs::Committed(vec![outcome(None), outcome(Some(Operation::Deleted))]),
        ReceiptRefs::Redacted(store, version),
        ReceiptRefs::Erased(memory, 3),
        ReceiptRefs::Grant(GrantId::from_u128(next_bits()), vec![]),
        ReceiptRefs::Revoked(vec![GrantId::from_u128(next_bits())]),
        ReceiptRefs::Session(world.workspace, session),
        ReceiptRefs::SessionRemoved(session),
        ReceiptRefs::Member(Membership {
            group: PrincipalId::from_u128(next_bits()),
            member: world.owner,
            since: world.now(),
        }),
        ReceiptRefs::MemberRemoved(
            PrincipalId::from_u128(next_bits()),
            world.owner,
            vec![GrantId::from_u128(next_bits())],
        ),
        ReceiptRefs::Recorded(4),
    ];
    let seen: Vec<Remembered> = (0..)
        .zip(kinds)
        .map(|(n, refs)| Remembered { idempotency: request(&world, n), refs })
        .collect();
    let items = seen.iter().cloned().map(|one| ImportItem::Remembered(Box::new(one)));
    import(&world, items.collect()).await.unwrap();
    assert_eq!(remembered(&world).await, seen);
}

pub async fn what_is_remembered_comes_in_pages(db: Db) {
    let world = World::new(db).await;
    let mut expected = Vec::new();
    for n in 0..7 {
        let key = request(&world, n);
        let edit = batch(vec![put(&format!("/{n}"), "x")]);
        let commit = Mutation::Commit(world.write_pass(), edit);
        let applied = world.storage.write(commit, Some(key.clone())).await.unwrap();
        let refs = ReceiptRefs::from(&applied.receipt);
        expected.push(Remembered { idempotency: key, refs });
        world.move_clock(1);
    }
    // Another credential's key of the same name comes by itself.
    let late = key::make(&world, key::plan(&world, 1)).await;
    let key = Idempotency { scope: late.id.as_u128(), ..request(&world, 3) };
    let archive = Mutation::ArchiveStore(world.manage_pass());
    let applied = world.storage.write(archive, Some(key.clone())).await.unwrap();
    expected.push(Remembered { idempotency: key, refs: ReceiptRefs::from(&applied.receipt) });
    assert_eq!(remembered(&world).await, expected);
    let (mut joined, mut after) = (Vec::<Remembered>::new(), None);
    loop {
        let page = world.storage.remembered(&world.admin_pass(), after, 3).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        after = Some((last.idempotency.scope, last.idempotency.key.clone()));
        joined.extend(page);
    }
    assert_eq!(joined, expected);
}

pub async fn requests_of_credentials_that_are_gone_are_left_out(db: Db) {
    let world = World::new(db).await;
    let talk = session::attaching(&world, &[world.store], Access::ReadWrite).await;
    let bound = ApiKey { session: Some(talk), ..key::plan(&world, 2) };
    let bound = key::make(&world, bound).await.id;
    let scopes = [world.owner.as_u128(), talk.as_u128(), bound.as_u128(), next_bits()];
    for (n, scope) in (0..).zip(scopes) {
        let key = Idempotency { scope, ..request(&world, n) };
        let edit = batch(vec![put(&format!("/{n}"), "x")]);
        let commit = Mutation::Commit(world.write_pass(), edit);
        world.storage.write(commit, Some(key)).await.unwrap();
        world.move_clock(1);
    }
    let told = async || {
        let seen = remembered(&world).await;
        seen.into_iter().map(|one| one.idempotency.scope).collect::<Vec<_>>()
    };
    assert_eq!(told().await, scopes[..3], "nobody has the last one");
    world.write(Mutation::RemoveSession(world.workspace, talk)).await.unwrap();
    assert_eq!(told().await, scopes[..1]);
}

pub async fn memberships_are_imported(db: Db) {
    let world = World::new(db).await;
    let plan = |kind, name| world.plan_principal(kind, name);
    let (group, agent) = (plan(PrincipalKind::Group, "room"), plan(PrincipalKind::Agent, "bot"));
    let since = world.in_secs(-500);
    let inside = Membership { group: group.id, member: agent.id, since };
    let items = || {
        let principals = [group.clone(), agent.clone()].map(ImportItem::Principal);
        principals.into_iter().chain([ImportItem::Membership(inside)]).collect::<Vec<_>>()
    };
    let early = import(&world, vec![ImportItem::Membership(inside)]).await;
    assert_refused!(early, StorageError::NotFound("principal"));
    assert_eq!(import(&world, items()).await.unwrap(), 3);
    assert_eq!(import(&world, items()).await.unwrap(), 0, "equal ones are passed over");
    let other = Membership { since: world.now(), ..inside };
    let result = import(&world, vec![ImportItem::Membership(other)]).await;
    assert_refused!(result, StorageError::Taken("member"));
    let wrong = Membership { group: agent.id, member: world.owner, since };
    let result = import(&world, vec![ImportItem::Membership(wrong)]).await;
    assert_refused!(result, StorageError::Invalid(_));
    let elsewhere = world.system().administer(world.new_workspace().await, world.now());
    let foreign = Membership { group: group.id, member: world.owner, since };
    let items = vec![ImportItem::Membership(foreign)];
    let result = world.write(Mutation::Import(elsewhere, items)).await;
    assert_refused!(result, StorageError::NotFound("principal"));
    let members = world.storage.members(&world.convene_pass(), group.id).await.unwrap();
    assert_eq!(members, [inside]);
}

pub async fn events_are_imported_in_order_only(db: Db) {
    let world = World::new(db).await;
    let mut events: Vec<Event> = Vec::new();
    for detail in [None, Some(""), Some("read")] {
        let happening =
            Happening { detail: detail.map(str::to_owned), ..world.happening(kind::GRANT_GIVEN) };
        let end = events.last().map(Event::end).unwrap_or_default();
        events.push(Event::next(end, happening));
    }
    let item = |event: &Event| ImportItem::Event(Box::new(event.clone()));
    let refuse = async |event: &Event| {
        assert_refused!(import(&world, vec![item(event)]).await, StorageError::Invalid(_));
    };
    refuse(&events[1]).await;
    assert_eq!(import(&world, vec![item(&events[0])]).await.unwrap(), 1);
    refuse(&events[2]).await;
    refuse(&Event { detail: Some("another".into()), ..events[1].clone() }).await;
    refuse(&Event { seq: 0, ..events[0].clone() }).await;
    refuse(&Event { at: world.now(), ..events[0].clone() }).await;
    let all = events.iter().map(item).collect::<Vec<_>>();
    assert_eq!(import(&world, all.clone()).await.unwrap(), 2);
    assert_eq!(import(&world, all).await.unwrap(), 0, "equal ones are passed over");
    assert_eq!(world.events().await, events);
    let next = world.write(Mutation::Record(world.happening(kind::SEARCHED))).await.unwrap();
    assert_eq!(next, Receipt::Recorded(4));
    let workspace = world.new_workspace().await;
    let elsewhere = world.system().administer(workspace, world.now());
    let foreign = world.write(Mutation::Import(elsewhere, vec![item(&events[0])])).await;
    assert_refused!(foreign, StorageError::NotFound("workspace"));
    world.assert_sound().await;
}

pub async fn what_is_different_is_refused(db: Db) {
    let world = World::new(db).await;
    let talk = session::plan(&world);
    let mine = key::plan(&world, 1);
    let refs = ReceiptRefs::Store(world.store);
    let seen = Remembered { idempotency: request(&world, 1), refs };
    let items = vec![
        ImportItem::Session(Box::new(talk.clone())),
        ImportItem::Key(Box::new(mine.clone())),
        ImportItem::Remembered(Box::new(seen.clone())),
    ];
    import(&world, items).await.unwrap();
    let other_refs = ReceiptRefs::StoreRemoved(world.store);
    let nobody = PrincipalId::from_u128(next_bits());
    let different = [
        ImportItem::Session(Box::new(Session { title: None, ..talk })),
        ImportItem::Key(Box::new(ApiKey { name: "phone".into(), ..mine.clone() })),
        ImportItem::Key(Box::new(ApiKey { id: KeyId::from_u128(next_bits()), ..mine })),
        ImportItem::Remembered(Box::new(Remembered { refs: other_refs, ..seen })),
    ];
    for item in different {
        assert_refused!(import(&world, vec![item]).await, StorageError::Taken(_));
    }
    let orphan = ApiKey { principal: nobody, ..key::plan(&world, 2) };
    let result = import(&world, vec![ImportItem::Key(Box::new(orphan))]).await;
    assert_refused!(result, StorageError::NotFound(_));
}

pub async fn what_belongs_to_another_workspace_is_refused(db: Db) {
    let world = World::new(db).await;
    let workspace = WorkspaceId::from_u128(next_bits());
    world.write(Mutation::CreateWorkspace(workspace, world.now())).await.unwrap();
    let refs = ReceiptRefs::Store(world.store);
    let idempotency = Idempotency { workspace, ..request(&world, 1) };
    let foreign = [
        ImportItem::Session(Box::new(Session { workspace, ..session::plan(&world) })),
        ImportItem::Key(Box::new(ApiKey { workspace, ..key::plan(&world, 1) })),
        ImportItem::Remembered(Box::new(Remembered { idempotency, refs })),
    ];
    for item in foreign {
        assert_refused!(import(&world, vec![item]).await, StorageError::NotFound(_));
    }
    let elsewhere = world.system().administer(workspace, world.now());
    assert_eq!(world.storage.remembered(&elsewhere, None, 10).await.unwrap(), []);
}
