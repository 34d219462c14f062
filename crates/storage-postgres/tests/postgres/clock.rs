//! What has expired stays expired on both engines when the clock goes back, also through a restart.

use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, Error, NewGrant, NewKey, NewPrincipal, NewStore};
use loci_model::{
    At, AttributesPatch, Audience, Content, Edit, EditOp, Grantee, Level, MemoryPath, Patch, Power,
    PrincipalKind, Timestamp, View,
};
use loci_storage::Storage;
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use loci_test_kit::{HandClock, counting_bytes};
use loci_test_postgres::{Build, Database};
use std::sync::Arc;

const HOUR: i64 = 3600;
const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn engine(storage: &Arc<dyn Storage>, clock: &Arc<HandClock>) -> Engine {
    Engine::new(Arc::clone(storage), Seams::new(clock.clone(), Arc::new(counting_bytes(1))))
}

/// `open` opens the same place once more.
async fn what_has_expired_stays_expired(open: impl AsyncFn() -> Arc<dyn Storage>) {
    let clock = Arc::new(HandClock::new(START));
    let until = Some(START.plus_secs(60));
    let storage = open().await;
    let first = engine(&storage, &clock);
    assert_eq!(first.resume_time().await.unwrap(), None);
    let start = first.bootstrap(None).await.unwrap();
    let request = first.seams().request_id(START);
    let caller = first.local_operator(&start);
    let admin = Context { caller, request, idempotency: None };
    let new = NewPrincipal { kind: PrincipalKind::Agent, name: "agent".into(), is_admin: false };
    let agent = first.create_principal(&admin, new).await.unwrap().id;
    let key = |name: &str, principal, expires_at| NewKey {
        name: name.into(),
        principal,
        power: Power::Full,
        stores: None,
        session: None,
        audience: Audience::Host,
        acts_for_agents: false,
        expires_at,
    };
    let brief = first.create_key(&admin, key("brief", None, until)).await.unwrap().1.unwrap();
    let lasting = key("lasting", Some(agent), None);
    let lasting = first.create_key(&admin, lasting).await.unwrap().1.unwrap();
    let new = NewStore { name: "s".into(), ..NewStore::default() };
    let store = first.create_store(&admin, new).await.unwrap().id;
    let path = MemoryPath::parse("/brief.md").unwrap();
    let attributes =
        AttributesPatch { expires_at: Patch::Set(until), ..AttributesPatch::default() };
    let op = EditOp::Put { content: Some(Content::Text("tea".into())), to: None, attributes };
    let edit = Edit { op, ..Edit::put_text(path.clone(), "") };
    first.commit_one(&admin, store, edit, "api").await.unwrap();
    let grant =
        NewGrant { grantee: Grantee::Principal(agent), level: Level::Read, expires_at: until };
    first.share(&admin, store, grant).await.unwrap();

    let at = At::Path(None, path);
    let works = async |engine: &Engine| {
        let opened = engine.authenticate(brief.reveal()).await;
        assert!(opened.is_ok() || matches!(opened, Err(Error::Unauthenticated(_))));
        let caller = engine.authenticate(lasting.reveal()).await.unwrap();
        let agent = Context { caller, ..admin.clone() };
        let memory = engine.get(&admin, store, &at, View::Basic).await;
        let shared = engine.store(&agent, store).await;
        (opened.is_ok(), memory.is_ok(), shared.is_ok())
    };
    assert_eq!(works(&first).await, (true, true, true));
    clock.advance_secs(120);
    assert_eq!(works(&first).await, (false, false, false));
    let edit = Edit::put_text(MemoryPath::parse("/later.md").unwrap(), "written after it");
    first.commit_one(&admin, store, edit, "api").await.unwrap();

    clock.advance_secs(-HOUR);
    assert_eq!(works(&first).await, (false, false, false), "the clock went back");
    drop((first, storage));
    let storage = open().await;
    let second = engine(&storage, &clock);
    assert_eq!(works(&second).await, (true, true, true), "by the clock alone they would work");
    let second = engine(&storage, &clock);
    assert_eq!(second.resume_time().await.unwrap(), None);
    assert_eq!(works(&second).await, (false, false, false), "and through a restart");
}

#[tokio::test]
async fn what_has_expired_stays_expired_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    what_has_expired_stays_expired(async || {
        let storage = SqliteStorage::open(folder.path(), SqliteOptions::default()).unwrap();
        Arc::new(storage) as Arc<dyn Storage>
    })
    .await;
}

#[tokio::test]
async fn what_has_expired_stays_expired_on_postgresql() {
    let database = Database::fresh(&Build::Current.url().unwrap(), None).await.unwrap();
    what_has_expired_stays_expired(async || {
        let options = PostgresOptions::new(database.url());
        Arc::new(PostgresStorage::open(&options, 1).await.unwrap()) as Arc<dyn Storage>
    })
    .await;
}
