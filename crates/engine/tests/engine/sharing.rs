//! Grants through the engine.

use crate::stage::Stage;
use loci_engine::{Error, NOT_THE_GIVER, NewGrant, Purpose};
use loci_model::query::{Direction, StoreQuery};
use loci_model::{Edit, Grantee, Level, MemoryPath, PrincipalKind};

fn to(context: &loci_engine::Context, level: Level) -> NewGrant {
    NewGrant { grantee: Grantee::Principal(context.caller.principal), level, expires_at: None }
}

fn all_stores() -> StoreQuery {
    StoreQuery {
        since: None,
        until: None,
        include_archived: false,
        direction: Direction::Descending,
        after: None,
        limit: 100,
    }
}

#[tokio::test]
async fn a_grant_opens_and_revoking_closes_at_once() {
    let stage = Stage::new().await;
    let store = stage.store("shared").await.id;
    let agent = stage.somebody("agent").await;
    assert!(stage.engine.store(&agent, store).await.is_err());
    let grant =
        stage.engine.share(&stage.admin, store, to(&agent, Level::Read)).await.unwrap().grant;
    assert!(stage.engine.store(&agent, store).await.is_ok());
    assert_eq!(stage.engine.list_stores(&agent, &all_stores()).await.unwrap().items.len(), 1);
    let edit = Edit::put_text(MemoryPath::parse("/a").unwrap(), "x");
    let written = stage.engine.commit_one(&agent, store, edit, "api").await;
    assert!(matches!(written, Err(Error::Denied(_))), "read is not write");
    stage.engine.revoke(&stage.admin, store, grant.id).await.unwrap();
    assert!(matches!(stage.engine.store(&agent, store).await, Err(Error::NotFound(_))));
    assert!(stage.engine.list_stores(&agent, &all_stores()).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn expired_grants_open_nothing() {
    let stage = Stage::new().await;
    let store = stage.store("shared").await.id;
    let agent = stage.somebody("agent").await;
    let until = stage.engine.seams().now().plus_secs(5);
    let grant = NewGrant { expires_at: Some(until), ..to(&agent, Level::Read) };
    stage.engine.share(&stage.admin, store, grant).await.unwrap();
    assert!(stage.engine.store(&agent, store).await.is_ok());
    stage.pass_secs(5);
    assert!(stage.engine.store(&agent, store).await.is_err());
}

#[tokio::test]
async fn sharing_on_never_gives_more_and_falls_with_its_giver() {
    let stage = Stage::new().await;
    let store = stage.store("shared").await.id;
    let (writer, friend) = (stage.somebody("writer").await, stage.somebody("friend").await);
    let until = stage.engine.seams().now().plus_secs(100);
    let grant = NewGrant { expires_at: Some(until), ..to(&writer, Level::ReadWrite) };
    let grant = stage.engine.share(&stage.admin, store, grant).await.unwrap().grant;

    let longer = stage.engine.share(&writer, store, to(&friend, Level::Read)).await;
    assert!(matches!(longer, Err(Error::Denied(_))), "no end is longer than an end");
    let within = NewGrant { expires_at: Some(until), ..to(&friend, Level::Read) };
    stage.engine.share(&writer, store, within).await.unwrap();
    assert!(stage.engine.store(&friend, store).await.is_ok());

    let further = stage.engine.share(&friend, store, to(&writer, Level::Read)).await;
    assert!(matches!(further, Err(Error::Denied(_))), "a reader cannot share");
    stage.engine.revoke(&stage.admin, store, grant.id).await.unwrap();
    assert!(stage.engine.store(&friend, store).await.is_err(), "what was given on falls too");
}

#[tokio::test]
async fn everyone_means_the_workspace() {
    let stage = Stage::new().await;
    let store = stage.store("public").await.id;
    let agent = stage.somebody("agent").await;
    let everyone = NewGrant { grantee: Grantee::Everyone, level: Level::Read, expires_at: None };
    stage.engine.share(&stage.admin, store, everyone).await.unwrap();
    assert!(stage.engine.store(&agent, store).await.is_ok());
    let unknown = Grantee::Principal(loci_model::PrincipalId::from_u128(77));
    let grant = NewGrant { grantee: unknown, level: Level::Read, expires_at: None };
    assert!(matches!(
        stage.engine.share(&stage.admin, store, grant).await,
        Err(Error::NotFound("principal"))
    ));
}

#[tokio::test]
async fn models_and_sessions_do_not_share() {
    let stage = Stage::new().await;
    let store = stage.store("mine").await.id;
    let audience = loci_model::Audience::Model;
    let (_, secret) =
        stage.key(loci_engine::NewKey { audience, ..crate::stage::full_key("model") }).await;
    let model = stage.enter(&secret).await;
    let everyone = NewGrant { grantee: Grantee::Everyone, level: Level::Read, expires_at: None };
    let shared = stage.engine.share(&model, store, everyone).await;
    assert!(matches!(shared, Err(Error::Denied(_))));
    assert!(matches!(stage.engine.archive_store(&model, store).await, Err(Error::Denied(_))));
}

#[tokio::test]
async fn nobody_shares_with_themselves_or_into_the_past() {
    let stage = Stage::new().await;
    let store = stage.store("mine").await.id;
    let agent = stage.somebody("agent").await;
    let own = stage.engine.share(&stage.admin, store, to(&stage.admin, Level::Read)).await;
    assert!(matches!(own, Err(Error::Invalid(_))));
    let past = Some(stage.engine.seams().now());
    let ended = NewGrant { expires_at: past, ..to(&agent, Level::Read) };
    assert!(matches!(stage.engine.share(&stage.admin, store, ended).await, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn taking_back_tells_what_is_gone_from_what_is_not_ones_own() {
    let stage = Stage::new().await;
    let store = stage.store("shared").await.id;
    let (one, two) = (stage.somebody("one").await, stage.somebody("two").await);
    for guest in [&one, &two] {
        stage.engine.share(&stage.admin, store, to(guest, Level::ReadWrite)).await.unwrap();
    }
    let grantee = Grantee::Principal(two.caller.principal);
    let refused = stage.engine.revoke_from(&one, store, grantee).await;
    assert!(matches!(refused, Err(Error::Denied(NOT_THE_GIVER))), "{refused:?}");
    assert!(stage.engine.store(&two, store).await.is_ok(), "and it stays");
    assert_eq!(stage.engine.revoke_from(&stage.admin, store, grantee).await.unwrap().len(), 1);
    assert!(stage.engine.store(&two, store).await.is_err());
    for who in [&stage.admin, &one] {
        let again = stage.engine.revoke_from(who, store, grantee).await.unwrap();
        assert!(again.is_empty(), "nothing was left to take back");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_owner_takes_back_what_is_shared_again_all_the_while() {
    let stage = std::sync::Arc::new(Stage::new().await);
    let store = stage.store("shared").await.id;
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    let mut working = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let (stage, new) = (std::sync::Arc::clone(&stage), to(&agent, Level::Read));
        working.spawn(async move {
            for _ in 0..50 {
                if worker % 2 == 0 {
                    stage.engine.share(&stage.admin, store, new.clone()).await.unwrap();
                } else {
                    stage.engine.revoke_from(&stage.admin, store, grantee).await.unwrap();
                }
            }
        });
    }
    working.join_all().await;
    stage.engine.revoke_from(&stage.admin, store, grantee).await.unwrap();
    assert!(stage.engine.grants(&stage.admin, store).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_platform_acts_as_whoever_gave() {
    let stage = Stage::new().await;
    let (giver, guest) = (stage.somebody("giver").await, stage.somebody("guest").await);
    let added = stage.engine.add_member(&stage.admin, "chat", "giver", PrincipalKind::Agent);
    added.await.unwrap();
    let store = stage.engine.store_named(&giver, "chat", Purpose::Write).await.unwrap().unwrap();
    let grantee = Grantee::Principal(guest.caller.principal);
    let found = stage.engine.acting_as_giver(&stage.admin, store, grantee).await.unwrap();
    assert!(found.is_none(), "nothing was given");
    stage.engine.share(&giver, store, to(&guest, Level::Read)).await.unwrap();
    let found = stage.engine.acting_as_giver(&stage.admin, store, grantee).await.unwrap().unwrap();
    assert_eq!(found.caller.principal, giver.caller.principal);
    assert!(!found.caller.is_admin);
    for who in [&guest, &giver] {
        let spoofed = stage.engine.acting_as_giver(who, store, grantee).await;
        assert!(matches!(spoofed, Err(Error::Denied(_))), "only platforms");
    }
}
