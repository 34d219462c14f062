//! The audit log: numbered and chained without a gap, written in one with what it tells about.

use super::fixture::*;
use super::grant;
use loci_model::event::kind;
use loci_model::{
    Actor, Audience, Event, Grant, Grantee, Happening, KeyId, Level, PrincipalId, PrincipalKind,
    SessionId, StorePolicy, limit, policy,
};
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use std::sync::Arc;
use tokio::task::JoinSet;

type Db = Arc<dyn Storage>;

fn assert_chained(events: &[Event]) {
    let mut end = Default::default();
    for (event, number) in events.iter().zip(1..) {
        assert!(event.seq == number && event.follows(end), "{event:?}");
        end = event.end();
    }
}

/// The happening of an event.
fn told(event: &Event, kind: &'static str) -> Happening {
    assert_eq!(event.kind, kind);
    Happening {
        workspace: event.workspace,
        at: event.at,
        actor: event.actor,
        principal: event.principal,
        kind,
        store: event.store,
        subject: event.subject.clone(),
        detail: event.detail.clone(),
    }
}

fn too_long(world: &World) -> Happening {
    let detail = Some("é".repeat(limit::EVENT_DETAIL_CHARS_MAX + 1));
    Happening { detail, ..world.happening(kind::GRANT_GIVEN) }
}

pub async fn events_come_back_as_they_happened(db: Db) {
    let world = World::new(db).await;
    let someone = PrincipalId::from_u128(next_bits());
    let plain = || world.happening(kind::SEARCHED);
    let happenings = [
        plain(),
        Happening { actor: Actor::System, store: None, ..plain() },
        Happening { actor: Actor::User(someone), subject: None, ..plain() },
        Happening { actor: Actor::Service(someone), detail: Some(String::new()), ..plain() },
        Happening { actor: Actor::Session(SessionId::from_u128(5)), ..plain() },
        Happening { actor: Actor::Key(KeyId::from_u128(6)), principal: someone, ..plain() },
        Happening { detail: Some("é".repeat(limit::EVENT_DETAIL_CHARS_MAX)), ..plain() },
        Happening { at: world.in_secs(-100), subject: Some("'; --".into()), ..plain() },
    ];
    for (happening, number) in happenings.iter().zip(1..) {
        let recorded = world.write(Mutation::Record(happening.clone())).await.unwrap();
        assert_eq!(recorded, Receipt::Recorded(number));
    }
    let events = world.events().await;
    assert_eq!(events.len(), happenings.len());
    for (event, happening) in events.iter().zip(&happenings) {
        assert_eq!(told(event, kind::SEARCHED), *happening);
    }
    assert_chained(&events);
    world.assert_sound().await;
}

pub async fn events_come_in_pages(db: Db) {
    let world = World::new(db).await;
    for _ in 0..7 {
        world.write(Mutation::Record(world.happening(kind::SEARCHED))).await.unwrap();
    }
    let whole = world.events().await;
    let mut joined: Vec<Event> = Vec::new();
    loop {
        let after = joined.last().map_or(0, |event| event.seq);
        let page = world.storage.events(&world.admin_pass(), after, 3).await.unwrap();
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        joined.extend(page);
    }
    assert_eq!(joined, whole);
    assert_eq!(joined.len(), 7);
}

pub async fn each_workspace_has_its_own_log(db: Db) {
    let world = World::new(db).await;
    let workspace = world.new_workspace().await;
    let there = Happening { workspace, ..world.happening(kind::SEARCHED) };
    for number in 1..=3 {
        let here = world.happening(kind::SEARCHED);
        let receipt = world.write(Mutation::Record(here)).await.unwrap();
        assert_eq!(receipt, Receipt::Recorded(number));
        let receipt = world.write(Mutation::Record(there.clone())).await.unwrap();
        assert_eq!(receipt, Receipt::Recorded(number));
    }
    let elsewhere = world.system().administer(workspace, world.now());
    let events = world.storage.events(&elsewhere, 0, 10).await.unwrap();
    assert_chained(&events);
    assert!(events.len() == 3 && events.iter().all(|event| event.workspace == workspace));
    assert_chained(&world.events().await);
    world.assert_sound().await;
}

pub async fn an_audited_write_and_its_event_are_one(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("guest").await;
    let given = grant::share(&world, guest, Level::Read).await;
    assert_eq!(world.events().await, []);
    let happening =
        Happening { subject: Some(given.id.to_string()), ..world.happening(kind::GRANT_REVOKED) };
    let revoke = Mutation::Revoke(world.share_pass(), given.id);
    let audited = Mutation::Audited(Box::new(revoke.clone()), happening.clone());
    assert_eq!(world.write(audited).await.unwrap(), Receipt::Revoked(vec![given.id]));
    assert_eq!(world.facts(guest).await.grants, [], "it counts at once");
    let events = world.events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(told(&events[0], kind::GRANT_REVOKED), happening);
    let refused = world.write(Mutation::Audited(Box::new(revoke), happening)).await;
    assert_refused!(refused, StorageError::NotFound("grant"));
    assert_eq!(world.events().await.len(), 1, "nothing happened");
}

/// Each grant that goes is in the log, whoever's going took it along.
pub async fn every_grant_that_goes_is_told(db: Db) {
    let world = World::new(db).await;
    let (guest, friend) = (world.new_principal("guest").await, world.new_principal("friend").await);
    let last = world.new_principal("last").await;
    let to = Grantee::Principal;
    let held = grant::share(&world, guest, Level::ReadWrite).await;
    let onward = || grant::give_as(&world, world.store, guest, to(friend), Level::ReadWrite);
    let further = || grant::give_as(&world, world.store, friend, to(last), Level::Read);
    let (one, two) = (onward().await, further().await);
    let lowered = Grant { level: Level::Search, ..held.clone() };
    let share = Mutation::Share(world.share_pass(), lowered);
    let happening = world.happening(kind::GRANT_GIVEN);
    let given = world.write(Mutation::Audited(Box::new(share), happening)).await.unwrap();
    assert!(matches!(given, Receipt::Grant { revoked, .. } if revoked == [one.id, two.id]));
    let told = |events: &[Event]| -> Vec<(String, Option<String>)> {
        events.iter().map(|event| (event.kind.clone(), event.subject.clone())).collect()
    };
    let went = |grant: &Grant| (kind::GRANT_REVOKED.to_owned(), Some(grant.id.to_string()));
    let first = (kind::GRANT_GIVEN.to_owned(), Some("subject".to_owned()));
    assert_eq!(told(&world.events().await), [first, went(&one), went(&two)]);
    grant::share(&world, guest, Level::ReadWrite).await;
    let (one, two) = (onward().await, further().await);
    let happening =
        Happening { subject: Some(held.id.to_string()), ..world.happening(kind::GRANT_REVOKED) };
    let revoke = Mutation::Revoke(world.share_pass(), held.id);
    world.write(Mutation::Audited(Box::new(revoke), happening)).await.unwrap();
    let events = world.events().await;
    assert_eq!(told(&events[3..]), [went(&held), went(&one), went(&two)]);
    assert_eq!(events[4].detail, Some(friend.to_string()));
    assert_chained(&events);
    // Leaving a group takes along, too.
    let group = world.new_one(PrincipalKind::Group, "room").await;
    let agent = world.new_one(PrincipalKind::Agent, "agent").await;
    let policy = StorePolicy { share: loci_model::store::Who::Writer, ..StorePolicy::default() };
    let address = Some(loci_model::Address::home(group));
    let home = loci_model::Store { owner: group, address, ..world.plan_store(policy) };
    world.write(Mutation::CreateStore(home.clone())).await.unwrap();
    world.join(group, agent).await;
    let gone = grant::give_as(&world, home.id, agent, to(guest), Level::Read).await;
    let leave = Mutation::RemoveMember { pass: world.convene_pass(), group, member: agent };
    let happening = world.happening(kind::MEMBER_REMOVED);
    world.write(Mutation::Audited(Box::new(leave), happening)).await.unwrap();
    let events = world.events().await;
    assert_eq!(told(&events[7..]), [went(&gone)]);
    assert_eq!(events[7].store, Some(home.id));
    world.assert_sound().await;
}

pub async fn an_event_that_breaks_a_rule_undoes_its_write(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("guest").await;
    world.put("/kept", "x").await;
    let share = grant::share(&world, guest, Level::Read).await;
    let writes = || {
        [
            Mutation::Commit(world.write_pass(), batch(vec![put("/a", "x")])),
            Mutation::Commit(world.write_pass(), batch(vec![put("/b", "x"), put("/c", "y")])),
            Mutation::Revoke(world.share_pass(), share.id),
            Mutation::CreateStore(world.plan_store(StorePolicy::default())),
            Mutation::RemoveStore(world.manage_pass()),
        ]
    };
    let before = world.facts(guest).await;
    for write in writes() {
        let audited = Mutation::Audited(Box::new(write), too_long(&world));
        assert_refused!(world.write(audited).await, StorageError::Invalid(_));
    }
    assert_refused!(
        world.write(Mutation::Record(too_long(&world))).await,
        StorageError::Invalid(_)
    );
    assert_eq!(world.facts(guest).await, before);
    assert_eq!(world.paths().await, ["/kept"]);
    assert_eq!(world.storage.feed_ends(&world.search_pass()).await.unwrap()[0].seq, 1);
    assert_eq!(world.events().await, []);
    world.put("/after", "x").await;
    assert_eq!(world.feed().await.len(), 2);
    world.assert_sound().await;
}

pub async fn an_audited_write_does_all_that_a_write_does(db: Db) {
    let world = World::new(db).await;
    let audited = |mutation| Mutation::Audited(Box::new(mutation), world.happening(kind::SEARCHED));
    let put_a = Mutation::Commit(world.write_pass(), batch(vec![put("/a", "one")]));
    let first = committed(world.write(audited(put_a)).await.unwrap()).remove(0).memory;
    assert_eq!(world.storage.feed_ends(&world.search_pass()).await.unwrap()[0].seq, 1);
    assert_eq!(world.find(&["one"]).await, [first.id]);
    world.put("/a", "two").await;
    let redact = Mutation::Redact(world.manage_pass(), first.head);
    world.write(audited(redact)).await.unwrap();
    assert_eq!(world.version(first.head).await.content, None);
    world.write(audited(Mutation::RemoveStore(world.manage_pass()))).await.unwrap();
    assert_eq!(world.storage.feed_ends(&world.search_pass()).await.unwrap(), []);
    let facts = world.storage.facts(world.workspace, world.store, world.owner, None).await;
    assert_eq!(facts.unwrap(), None);
    assert_chained(&world.events().await);
    assert_eq!(world.events().await.len(), 3);
    world.assert_sound().await;
}

pub async fn a_repeated_request_is_recorded_once(db: Db) {
    let world = World::new(db).await;
    let key = || idempotency(world.workspace, 1, "k", 1, world.now());
    let audited = || {
        let commit = Mutation::Commit(world.write_pass(), batch(vec![put("/a", "x")]));
        Mutation::Audited(Box::new(commit), world.happening(kind::SEARCHED))
    };
    let first = world.storage.write(audited(), Some(key())).await.unwrap();
    let again = world.storage.write(audited(), Some(key())).await.unwrap();
    assert_eq!((first.is_replay, again.is_replay), (false, true));
    assert_eq!(again.receipt, first.receipt);
    assert_eq!(world.storage.recall(&key()).await.unwrap(), Some(first.receipt));
    assert_eq!(world.events().await.len(), 1);
    let other = idempotency(world.workspace, 1, "other", 1, world.now());
    let reused = loci_storage::Idempotency { fingerprint: [9; 32], ..key() };
    let refused = world.storage.write(audited(), Some(reused)).await;
    assert_refused!(refused, StorageError::KeyReused);
    world.storage.write(audited(), Some(other)).await.unwrap();
    assert_eq!(world.events().await.len(), 2);
}

pub async fn events_of_many_at_once_are_one_chain(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("guest").await;
    grant::share(&world, guest, Level::ReadWrite).await;
    let caller = world.caller(guest, Audience::Host);
    let pass = policy::write(&caller, &world.facts(guest).await, world.now()).unwrap();
    let mut under_way = JoinSet::new();
    for number in 0..24 {
        let (storage, happening) = (world.storage.clone(), world.happening(kind::SEARCHED));
        let happening = Happening { detail: Some(number.to_string()), ..happening };
        let commit = Mutation::Commit(pass.clone(), batch(vec![put(&format!("/{number}"), "x")]));
        let mutation = match number % 3 {
            0 => Mutation::Record(happening),
            1 => Mutation::Audited(Box::new(commit), happening),
            _ => commit,
        };
        under_way.spawn(async move { storage.write(mutation, None).await.unwrap() });
    }
    let applied = under_way.join_all().await;
    let events = world.events().await;
    assert_chained(&events);
    let mut details: Vec<_> = events.iter().filter_map(|event| event.detail.clone()).collect();
    details.sort();
    details.dedup();
    assert_eq!((events.len(), details.len()), (16, 16));
    let mut recorded: Vec<u64> = applied
        .iter()
        .filter_map(|one| match one.receipt {
            Receipt::Recorded(seq) => Some(seq),
            _ => None,
        })
        .collect();
    recorded.sort_unstable();
    recorded.dedup();
    assert_eq!(recorded.len(), 8, "a number is given once");
    assert_eq!(world.paths().await.len(), 16);
    world.assert_sound().await;
}
