//! A browser's session takes with it what was made in it, wherever the ending of it is interrupted: by a
//! storage that fails, a client that goes away, or a key that is made at the same time.

use crate::stage::{Stage, full_key};
use loci_engine::search::SearchOptions;
use loci_engine::{DeclaredKey, Error, Secret};
use loci_model::{KeyId, Power};
use loci_storage_memory::MemStorage;
use std::future::Future;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How long something that happens in the background is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A key, a session that it was shown for, and what was made in that: a key, another by that one, a
/// session of it, and a key in that.
struct World {
    stage: Stage,
    storage: Arc<MemStorage>,
    key: (KeyId, Secret),
    session: Secret,
    made: Vec<Secret>,
}

impl World {
    async fn new() -> Self {
        let storage = Arc::new(MemStorage::new());
        let stage = Stage::over(storage.clone(), SearchOptions::default()).await;
        let (key, secret) = stage.key(full_key("real")).await;
        let session = Self::sign_in(&stage, &secret).await;
        let first = Self::make(&stage, &session).await;
        let second = Self::make(&stage, &first).await;
        let inner = Self::sign_in(&stage, &first).await;
        let third = Self::make(&stage, &inner).await;
        let made = vec![first, second, inner, third];
        Self { stage, storage, key: (key.id, secret), session, made }
    }

    async fn sign_in(stage: &Stage, key: &Secret) -> Secret {
        stage.engine.sign_in(key.reveal(), stage.admin.request).await.unwrap().secret
    }

    async fn make(stage: &Stage, by: &Secret) -> Secret {
        let context = stage.enter(by).await;
        stage.engine.create_key(&context, full_key("made")).await.unwrap().1.unwrap()
    }

    async fn opens(&self, secret: &Secret) -> bool {
        self.stage.engine.authenticate(secret.reveal()).await.is_ok()
    }

    /// How many of what was made in the session still open something.
    async fn left(&self) -> usize {
        let mut left = 0;
        for secret in &self.made {
            left += usize::from(self.opens(secret).await);
        }
        left
    }

    /// Cuts `end` off after each of its writes and asks again: nothing is left at any time that does not
    /// stand on something valid, and nothing at all in the end.
    async fn cut_off<F: Future<Output = Result<(), Error>>>(
        end: impl Fn(&Stage, KeyId, Secret) -> F,
        root: impl Fn(&Self) -> Secret,
    ) {
        for writes in 0.. {
            let world = Self::new().await;
            world.storage.stop_after(Some(writes));
            let ended = end(&world.stage, world.key.0, world.session.clone()).await;
            world.storage.stop_after(None);
            let (stands, left) = (world.opens(&root(&world)).await, world.left().await);
            assert!(stands || left == 0, "after {writes} writes {left} keys stand on nothing");
            if ended.is_ok() {
                assert!(writes >= 5 && !stands, "{writes}");
                return;
            }
            end(&world.stage, world.key.0, world.session.clone()).await.unwrap();
            assert!(!world.opens(&root(&world)).await && world.left().await == 0, "{writes}");
        }
    }
}

#[tokio::test]
async fn a_sign_out_that_is_cut_off_can_be_asked_for_again() {
    let end = |stage: &Stage, _, session: Secret| {
        let engine = stage.engine.clone();
        async move { engine.sign_out(session.reveal()).await }
    };
    World::cut_off(end, |world| world.session.clone()).await;
}

#[tokio::test]
async fn a_revocation_that_is_cut_off_can_be_asked_for_again() {
    let end = |stage: &Stage, key, _| {
        let (engine, admin) = (stage.engine.clone(), stage.admin.clone());
        async move { engine.revoke_key(&admin, key).await.map(drop) }
    };
    World::cut_off(end, |world| world.key.1.clone()).await;
}

#[tokio::test]
async fn a_declaration_that_is_cut_off_leaves_no_sessions_of_the_key_before() {
    for writes in 0.. {
        let storage = Arc::new(MemStorage::new());
        let stage = Stage::over(storage.clone(), SearchOptions::default()).await;
        let owner = &stage.admin.caller;
        let declared = |secret: &str| DeclaredKey {
            name: "file".to_owned(),
            workspace: owner.workspace,
            principal: owner.principal,
            power: Power::Full,
            stores: None,
            acts_for_agents: false,
            secret_hash: Secret::given(secret).hash(),
        };
        stage.engine.declare_key(declared("the first one")).await.unwrap();
        let session = World::sign_in(&stage, &Secret::given("the first one")).await;
        let made = World::make(&stage, &session).await;
        let opens = async |secret: &str| stage.engine.authenticate(secret).await.is_ok();
        storage.stop_after(Some(writes));
        let done = stage.engine.declare_key(declared("the second one")).await;
        storage.stop_after(None);
        let stands = opens("the first one").await;
        assert!(stands || !(opens(session.reveal()).await || opens(made.reveal()).await));
        stage.engine.declare_key(declared("the second one")).await.unwrap();
        for gone in ["the first one", session.reveal(), made.reveal()] {
            assert!(!opens(gone).await, "after {writes} writes");
        }
        assert!(opens("the second one").await);
        if done.is_ok() {
            assert!(writes >= 4, "{writes}");
            return;
        }
    }
}

/// What a session that ended long ago left behind, as servers before this one could.
#[tokio::test]
async fn what_an_ended_session_left_goes_with_another_sign_out() {
    let world = World::new().await;
    let gate = world.storage.hold_next_write();
    let (engine, context) = (world.stage.engine.clone(), world.stage.enter(&world.session).await);
    let making = tokio::spawn(async move { engine.create_key(&context, full_key("late")).await });
    reached(|| gate.is_reached()).await;
    // It was made while the session stood, and is seen when its end was written.
    let engine = &world.stage.engine;
    engine.sign_out(world.session.reveal()).await.unwrap();
    assert_eq!(world.left().await, 0);
    gate.open();
    let made = making.await.unwrap();
    assert!(matches!(made, Err(Error::Unauthenticated(_))), "{made:?}");
    let keys = engine.keys(&world.stage.admin).await.unwrap();
    let late = keys.iter().find(|key| key.name.starts_with("late")).unwrap();
    assert!(late.revoked_at.is_some());
    engine.sign_out(world.session.reveal()).await.unwrap();
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_keep_the_keys_alive() {
    let world = World::new().await;
    let gate = world.storage.hold_next_write();
    {
        let engine = &world.stage.engine;
        let mut leaving = Box::pin(engine.sign_out(world.session.reveal()));
        std::future::poll_fn(|context| {
            assert!(leaving.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        reached(|| gate.is_reached()).await;
    }
    gate.open();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while world.opens(&world.session).await || world.left().await > 0 {
        assert!(tokio::time::Instant::now() < deadline, "{} keys are left", world.left().await);
        tokio::task::yield_now().await;
    }
}

async fn reached(is_it: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !is_it() {
        assert!(tokio::time::Instant::now() < deadline, "nothing came");
        tokio::task::yield_now().await;
    }
}

/// Whoever signs in with a key while it is revoked has nothing of it either.
#[tokio::test]
async fn a_sign_in_beside_a_revocation_leaves_nothing() {
    let world = World::new().await;
    let (engine, request) = (world.stage.engine.clone(), world.stage.admin.request);
    let gate = world.storage.hold_next_write();
    let key = world.key.1.clone();
    let entering = tokio::spawn(async move { engine.sign_in(key.reveal(), request).await });
    reached(|| gate.is_reached()).await;
    world.stage.engine.revoke_key(&world.stage.admin, world.key.0).await.unwrap();
    gate.open();
    assert!(entering.await.unwrap().is_err());
    let engine = &world.stage.engine;
    let valid = engine.keys(&world.stage.admin).await.unwrap();
    let now = engine.seams().now();
    let valid: Vec<_> = valid.iter().filter(|key| key.is_valid_at(now)).collect();
    assert!(valid.iter().all(|key| !key.name.starts_with("console session")), "{valid:?}");
}
