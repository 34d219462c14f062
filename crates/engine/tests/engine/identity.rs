//! Keys and principals.

use crate::stage::{Stage, full_key};
use loci_engine::{Error, NewKey, NewStore, Secret};
use loci_model::{Actor, At, Audience, Level, Power, View};

#[tokio::test]
async fn the_first_start_shows_a_key_once_and_it_opens_everything() {
    let stage = Stage::new().await;
    let secret = stage.start.admin_key.as_ref().expect("a first start makes a key");
    let caller = stage.engine.authenticate(secret.reveal()).await.unwrap();
    assert!(caller.is_admin);
    assert!(stage.engine.bootstrap(None).await.unwrap().admin_key.is_none(), "only once");
}

#[tokio::test]
async fn the_operators_own_key_replaces_the_one_before() {
    let stage = Stage::new().await;
    let (first, second) = (Secret::given("first-secret"), Secret::given("second-secret"));
    stage.engine.bootstrap(Some(&first)).await.unwrap();
    assert!(stage.engine.authenticate("first-secret").await.is_ok());
    stage.engine.bootstrap(Some(&second)).await.unwrap();
    assert!(stage.engine.authenticate("second-secret").await.is_ok());
    assert!(stage.engine.authenticate("first-secret").await.is_err());
}

#[tokio::test]
async fn a_declared_key_stands_until_the_one_in_its_place_is_made() {
    let stage = Stage::new().await;
    let (first, second) = (Secret::given("first-secret"), Secret::given("second-secret"));
    stage.engine.bootstrap(Some(&first)).await.unwrap();
    stage.engine.bootstrap(Some(&second)).await.unwrap();
    // It cannot be made: a key of that secret was retired. A disk without room is no different.
    let refused = stage.engine.bootstrap(Some(&first)).await;
    assert!(matches!(refused, Err(Error::Taken(_))), "{refused:?}");
    assert!(stage.engine.authenticate("second-secret").await.is_ok(), "nobody is locked out");
}

#[tokio::test]
async fn wrong_expired_and_revoked_keys_open_nothing() {
    let stage = Stage::new().await;
    let refused = |result: Result<_, Error>| matches!(result, Err(Error::Unauthenticated(_)));
    assert!(refused(stage.engine.authenticate("nonsense").await));

    let until = stage.engine.seams().now().plus_secs(60);
    let brief = NewKey { expires_at: Some(until), ..full_key("brief") };
    let (_, secret) = stage.key(brief).await;
    assert!(stage.engine.authenticate(secret.reveal()).await.is_ok());
    stage.pass_secs(60);
    assert!(refused(stage.engine.authenticate(secret.reveal()).await));

    let (key, secret) = stage.key(full_key("gone")).await;
    stage.engine.revoke_key(&stage.admin, key.id).await.unwrap();
    assert!(refused(stage.engine.authenticate(secret.reveal()).await));
}

#[tokio::test]
async fn a_key_only_shrinks_its_principal() {
    let stage = Stage::new().await;
    let (open, shut) = (stage.store("open").await, stage.store("shut").await);
    let key = NewKey {
        power: Power::UpTo(Level::Read),
        stores: Some(vec![open.id]),
        ..full_key("reader")
    };
    let (key, secret) = stage.key(key).await;
    let reader = stage.enter(&secret).await;
    assert_eq!(reader.caller.actor, Actor::Key(key.id));
    assert!(stage.engine.store(&reader, open.id).await.is_ok());
    assert!(matches!(stage.engine.store(&reader, shut.id).await, Err(Error::NotFound(_))));
    let new = NewStore { name: "another".into(), ..NewStore::default() };
    assert!(matches!(stage.engine.create_store(&reader, new).await, Err(Error::Denied(_))));
    assert!(matches!(
        stage.engine.create_key(&reader, full_key("wider")).await,
        Err(Error::Denied(_))
    ));
    assert!(matches!(stage.engine.keys(&reader).await, Err(Error::Denied(_))));
}

#[tokio::test]
async fn only_administrators_make_keys_for_others() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let own = stage.engine.create_key(&agent, full_key("own")).await.unwrap();
    assert_eq!(own.0.principal, agent.caller.principal);
    let foreign = NewKey { principal: Some(stage.start.administrator.id), ..full_key("foreign") };
    assert!(matches!(stage.engine.create_key(&agent, foreign).await, Err(Error::Denied(_))));
}

#[tokio::test]
async fn a_stranger_cannot_tell_a_hidden_store_from_a_missing_one() {
    let stage = Stage::new().await;
    let store = stage.store("private").await;
    let written = stage.put(store.id, "/a", "x").await;
    let stranger = stage.somebody("stranger").await;
    let missing = loci_model::StoreId::from_u128(42);
    let at = At::Id(written.memory.id);
    let hidden = stage.engine.get(&stranger, store.id, &at, View::Full).await.unwrap_err();
    let absent = stage.engine.get(&stranger, missing, &at, View::Full).await.unwrap_err();
    assert_eq!(hidden.to_string(), absent.to_string());
}

#[tokio::test]
async fn a_key_never_makes_a_wider_or_longer_one() {
    let stage = Stage::new().await;
    let until = stage.engine.seams().now().plus_secs(60);
    let (_, brief) = stage.key(NewKey { expires_at: Some(until), ..full_key("brief") }).await;
    let brief = stage.enter(&brief).await;
    let (made, _) = stage.engine.create_key(&brief, full_key("child")).await.unwrap();
    assert_eq!(made.expires_at, Some(until), "it ends with its maker");
    let longer = NewKey { expires_at: Some(until.plus_secs(1)), ..full_key("longer") };
    assert!(matches!(stage.engine.create_key(&brief, longer).await, Err(Error::Denied(_))));

    let (_, model) = stage.key(NewKey { audience: Audience::Model, ..full_key("model") }).await;
    let model = stage.enter(&model).await;
    let host = stage.engine.create_key(&model, full_key("host")).await;
    assert!(matches!(host, Err(Error::Denied(_))), "a model makes no keys");
}
