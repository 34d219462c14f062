//! Sessions and what they attach.

use super::fixture::*;
use loci_model::query::{CreatedQuery, Direction, SessionQuery};
use loci_model::{Access, Attachment, PrincipalId, Session, SessionId, StoreId, WorkspaceId};
use loci_storage::{Mutation, Receipt, Result, SessionChange, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub(crate) fn attach(store: StoreId, access: Access) -> Attachment {
    Attachment {
        store,
        access,
        instructions: Some("be brief".into()),
        name: "notes".into(),
        description: "what was said".into(),
        mount_path: format!("/mnt/memory/{store}"),
    }
}

pub(crate) fn plan(world: &World) -> Session {
    Session {
        id: SessionId::from_u128(next_bits()),
        workspace: world.workspace,
        owner: world.owner,
        title: Some("talk".into()),
        metadata: [("k".to_owned(), "v".to_owned())].into(),
        agent_id: "agent".into(),
        agent_version: 3,
        details: "{\"a\":[1]}".into(),
        attachments: vec![],
        created_at: world.now(),
        updated_at: world.now(),
        archived_at: None,
    }
}

/// A session that attaches these stores.
pub(crate) async fn attaching(world: &World, stores: &[StoreId], access: Access) -> SessionId {
    let attachments = stores.iter().map(|store| attach(*store, access)).collect();
    make(world, Session { attachments, ..plan(world) }).await.id
}

async fn make(world: &World, session: Session) -> Session {
    match world.write(Mutation::CreateSession(session)).await.unwrap() {
        Receipt::Session(session) => *session,
        other => panic!("{other:?}"),
    }
}

async fn change(world: &World, session: SessionId, change: SessionChange) -> Result<Session> {
    let mutation =
        Mutation::ChangeSession { workspace: world.workspace, session, change, now: world.now() };
    match world.write(mutation).await? {
        Receipt::Session(session) => Ok(*session),
        other => panic!("{other:?}"),
    }
}

fn query() -> SessionQuery {
    SessionQuery {
        created: CreatedQuery {
            since: None,
            until: None,
            include_archived: false,
            direction: Direction::Ascending,
            after: None,
            limit: 100,
        },
        store: None,
        agent_id: None,
        agent_version: None,
    }
}

async fn listed(world: &World, owner: Option<PrincipalId>, query: &SessionQuery) -> Vec<SessionId> {
    let page = world.storage.list_sessions(world.workspace, owner, query).await;
    page.unwrap().items.iter().map(|session| session.id).collect()
}

pub async fn a_session_comes_back_as_it_was_made(db: Db) {
    let world = World::new(db).await;
    let other = world.new_store(Default::default()).await.id;
    let mut session = plan(&world);
    session.attachments =
        vec![attach(other, Access::ReadOnly), attach(world.store, Access::ReadWrite)];
    session.attachments[1].instructions = None;
    assert_eq!(make(&world, session.clone()).await, session);
    let found = world.storage.session(world.workspace, session.id).await.unwrap();
    assert_eq!(found, Some(session));
}

pub async fn a_session_stays_in_its_workspace(db: Db) {
    let world = World::new(db).await;
    let session = make(&world, plan(&world)).await;
    let elsewhere = WorkspaceId::from_u128(next_bits());
    assert_eq!(world.storage.session(elsewhere, session.id).await.unwrap(), None);
    let page = world.storage.list_sessions(elsewhere, None, &query()).await.unwrap();
    assert!(page.items.is_empty());
    let foreign = Mutation::ChangeSession {
        workspace: elsewhere,
        session: session.id,
        change: SessionChange::Archive,
        now: world.now(),
    };
    assert_refused!(world.write(foreign).await, StorageError::NotFound(_));
    let removal = Mutation::RemoveSession(elsewhere, session.id);
    assert_refused!(world.write(removal).await, StorageError::NotFound(_));
}

pub async fn facts_tell_how_a_session_attaches_a_store(db: Db) {
    let world = World::new(db).await;
    let other = world.new_store(Default::default()).await.id;
    let mut session = plan(&world);
    session.attachments = vec![attach(world.store, Access::ReadOnly)];
    let session = make(&world, session).await;
    for (store, expected) in [(world.store, Some(Access::ReadOnly)), (other, None)] {
        let facts = world
            .storage
            .facts(world.workspace, store, world.owner, Some(session.id))
            .await
            .unwrap();
        assert_eq!(facts.unwrap().attachment, expected);
    }
    let unknown = Some(SessionId::from_u128(next_bits()));
    let facts =
        world.storage.facts(world.workspace, world.store, world.owner, unknown).await.unwrap();
    assert_eq!(facts.unwrap().attachment, None);
}

pub async fn an_attachment_is_a_snapshot_that_outlives_its_store(db: Db) {
    let world = World::new(db).await;
    let mut session = plan(&world);
    session.attachments = vec![attach(world.store, Access::ReadWrite)];
    let session = make(&world, session).await;
    let manage = || world.manage_pass();
    let patch = loci_model::StorePatch { name: Some("new".into()), ..Default::default() };
    world.write(Mutation::DescribeStore(manage(), patch)).await.unwrap();
    let found = async || world.storage.session(world.workspace, session.id).await.unwrap();
    assert_eq!(found().await, Some(session.clone()));
    world.write(Mutation::RemoveStore(manage())).await.unwrap();
    world.write(Mutation::PurgeStore { pass: manage(), limit: 10 }).await.unwrap();
    assert_eq!(found().await, Some(session.clone()));
}

pub async fn describing_a_session_changes_what_is_named(db: Db) {
    let world = World::new(db).await;
    let session = make(&world, plan(&world)).await;
    let now = world.now();
    let labels = [("k".to_owned(), None), ("n".to_owned(), Some("1".to_owned()))];
    let describe = SessionChange::Describe { title: None, metadata: labels.into() };
    let after = change(&world, session.id, describe).await.unwrap();
    assert_eq!((after.title, after.updated_at), (session.title, now));
    assert_eq!(after.metadata, [("n".to_owned(), "1".to_owned())].into());
    let clear = SessionChange::Describe { title: Some(None), metadata: Default::default() };
    let cleared = change(&world, session.id, clear).await.unwrap();
    assert_eq!((cleared.title, cleared.metadata), (None, after.metadata));
}

pub async fn too_many_labels_on_a_session_are_refused(db: Db) {
    let world = World::new(db).await;
    let session = make(&world, plan(&world)).await;
    let metadata = (0..16).map(|n| (format!("n{n}"), Some("v".to_owned()))).collect();
    let describe = SessionChange::Describe { title: Some(None), metadata };
    assert_refused!(change(&world, session.id, describe).await, StorageError::Invalid(_));
    let found = world.storage.session(world.workspace, session.id).await.unwrap();
    assert_eq!(found, Some(session));
}

pub async fn details_change_on_condition(db: Db) {
    let world = World::new(db).await;
    let session = make(&world, plan(&world)).await;
    let now = world.now();
    let details = |was: &str, details: &str| SessionChange::Detail {
        was: was.to_owned(),
        details: details.to_owned(),
    };
    let next = r#"{"more":1}"#;
    let after = change(&world, session.id, details(&session.details, next)).await.unwrap();
    assert_eq!((&*after.details, after.updated_at), (next, now));
    let late = change(&world, session.id, details(&session.details, "{}")).await;
    assert_refused!(late, StorageError::Refused { .. });
    let found = world.storage.session(world.workspace, session.id).await.unwrap();
    assert_eq!(found, Some(after));
}

pub async fn archiving_a_session_happens_once(db: Db) {
    let world = World::new(db).await;
    let session = make(&world, plan(&world)).await;
    let now = world.now();
    let once = change(&world, session.id, SessionChange::Archive).await.unwrap();
    assert_eq!(once.archived_at, Some(now));
    let again = change(&world, session.id, SessionChange::Archive).await.unwrap();
    assert_eq!(again, once);
}

pub async fn a_removed_session_is_gone(db: Db) {
    let world = World::new(db).await;
    let mut session = plan(&world);
    session.attachments = vec![attach(world.store, Access::ReadOnly)];
    let session = make(&world, session).await;
    let removal = || Mutation::RemoveSession(world.workspace, session.id);
    let receipt = world.write(removal()).await.unwrap();
    assert_eq!(receipt, Receipt::SessionRemoved(session.id));
    assert_eq!(world.storage.session(world.workspace, session.id).await.unwrap(), None);
    assert!(listed(&world, None, &query()).await.is_empty());
    let facts = world
        .storage
        .facts(world.workspace, world.store, world.owner, Some(session.id))
        .await
        .unwrap();
    assert_eq!(facts.unwrap().attachment, None);
    assert_refused!(world.write(removal()).await, StorageError::NotFound(_));
}

pub async fn sessions_are_filtered(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("guest").await;
    let mut first = plan(&world);
    first.attachments = vec![attach(world.store, Access::ReadOnly)];
    let first = make(&world, first).await.id;
    let second = Session { agent_id: "other".into(), owner: guest, ..plan(&world) };
    let second = make(&world, second).await.id;
    let third = make(&world, Session { agent_version: 4, ..plan(&world) }).await.id;
    let archived = make(&world, plan(&world)).await.id;
    change(&world, archived, SessionChange::Archive).await.unwrap();

    assert_eq!(listed(&world, None, &query()).await, [first, second, third]);
    assert_eq!(listed(&world, Some(guest), &query()).await, [second]);
    let with_store = SessionQuery { store: Some(world.store), ..query() };
    assert_eq!(listed(&world, None, &with_store).await, [first]);
    let of_agent = SessionQuery { agent_id: Some("agent".into()), ..query() };
    assert_eq!(listed(&world, None, &of_agent).await, [first, third]);
    let of_version = SessionQuery { agent_version: Some(4), ..of_agent };
    assert_eq!(listed(&world, None, &of_version).await, [third]);
    let mut all = query();
    all.created.include_archived = true;
    assert_eq!(listed(&world, None, &all).await, [first, second, third, archived]);
}

pub async fn sessions_come_by_creation_in_pages(db: Db) {
    let world = World::new(db).await;
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(make(&world, plan(&world)).await);
    }
    let mut ids: Vec<SessionId> = made.iter().map(|session| session.id).collect();
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut step = query();
        (step.created.direction, step.created.limit) = (direction, 3);
        let page = world.storage.list_sessions(world.workspace, None, &step).await.unwrap();
        assert_eq!(page.items.iter().map(|session| session.id).collect::<Vec<_>>(), ids[..3]);
        step.created.after = page.next;
        assert_eq!(listed(&world, None, &step).await, ids[3..]);
        ids.reverse();
    }
    let mut bounded = query();
    bounded.created.since = Some(made[1].created_at);
    bounded.created.until = Some(made[2].created_at);
    assert_eq!(listed(&world, None, &bounded).await, ids[1..3]);
}
