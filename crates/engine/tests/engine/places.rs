//! Stores at names of the callers' choosing: once for the platform, and once for each beside it.

use crate::stage::Stage;
use loci_engine::{Context, Error, NewGrant, Place, Purpose};
use loci_model::{Address, Grantee, Level, Power, StoreId, StorePolicy};

fn place(who: &Context) -> Place {
    let own = format!("test:{}:name", who.caller.principal);
    Place {
        shared: Address::parse("test:name").unwrap(),
        own: Address::parse(&own).unwrap(),
        name: "a place".into(),
        policy: StorePolicy::default(),
    }
}

async fn at(stage: &Stage, who: &Context, purpose: Purpose) -> Option<StoreId> {
    stage.engine.store_at(who, &place(who), purpose).await.unwrap()
}

#[tokio::test]
async fn being_first_does_not_make_a_place_ones_own_for_everybody() {
    let stage = Stage::new().await;
    let early = stage.somebody("early").await;
    for purpose in [Purpose::Search, Purpose::Read, Purpose::Change] {
        assert_eq!(at(&stage, &early, purpose).await, None);
    }
    let own = at(&stage, &early, Purpose::Write).await.unwrap();
    let shared = at(&stage, &stage.admin, Purpose::Write).await.unwrap();
    assert_ne!(own, shared);
    assert_eq!(at(&stage, &early, Purpose::Write).await, Some(own));
    assert_eq!(at(&stage, &stage.admin, Purpose::Read).await, Some(shared));
    let made = stage.engine.store(&stage.admin, own).await.unwrap();
    assert_eq!((made.owner, made.name.as_str()), (early.caller.principal, "a place"));
    // To somebody else neither is there.
    let late = stage.somebody("late").await;
    assert_eq!(at(&stage, &late, Purpose::Read).await, None);
}

#[tokio::test]
async fn a_grant_leads_to_the_platforms_place_until_it_is_taken_back() {
    let stage = Stage::new().await;
    let guest = stage.somebody("guest").await;
    let shared = at(&stage, &stage.admin, Purpose::Write).await.unwrap();
    let grantee = Grantee::Principal(guest.caller.principal);
    let new = NewGrant { grantee, level: Level::Search, expires_at: None };
    let grant = stage.engine.share(&stage.admin, shared, new).await.unwrap();
    // Also for what it is not enough for: the refusal comes from there.
    assert_eq!(at(&stage, &guest, Purpose::Write).await, Some(shared));
    stage.engine.revoke(&stage.admin, shared, grant.grant.id).await.unwrap();
    assert_eq!(at(&stage, &guest, Purpose::Read).await, None);
    assert_ne!(at(&stage, &guest, Purpose::Write).await, Some(shared));
}

#[tokio::test]
async fn a_narrow_credential_makes_no_place() {
    let stage = Stage::new().await;
    let mut reader = stage.somebody("reader").await;
    reader.caller.scope.power = Power::UpTo(Level::Read);
    assert_eq!(at(&stage, &reader, Purpose::Read).await, None);
    let made = stage.engine.store_at(&reader, &place(&reader), Purpose::Write).await;
    assert!(matches!(made, Err(Error::Denied(_))));
    reader.caller.scope.stores = Some(Vec::new());
    let read = stage.engine.store_at(&reader, &place(&reader), Purpose::Read).await;
    assert!(matches!(read, Err(Error::Denied(_))));
}
