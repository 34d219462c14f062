//! Sharing: who may give what, what replaces what, and what falls with a revocation.

use super::fixture::*;
use loci_model::policy::{self, SharePass};
use loci_model::query::{CreatedQuery, Direction};
use loci_model::{
    Audience, Caller, Grant, GrantId, Grantee, Level, PrincipalId, Store, StoreId, Timestamp,
};
use loci_storage::{Mutation, Receipt, Result, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

fn grant(world: &World, by: PrincipalId, to: Grantee, level: Level) -> Grant {
    Grant {
        id: GrantId::from_u128(next_bits()),
        store: world.store,
        grantee: to,
        level,
        given_by: by,
        expires_at: None,
        created_at: world.now(),
    }
}

/// Gives a grant as somebody who can.
pub(crate) async fn give_as(
    world: &World,
    store: StoreId,
    giver: PrincipalId,
    to: Grantee,
    level: Level,
) -> Grant {
    let caller = world.caller(giver, Audience::Host);
    let facts = world.storage.facts(world.workspace, store, giver, None).await.unwrap().unwrap();
    let pass = policy::share(&caller, &facts, world.now()).unwrap();
    let grant = Grant { store, ..grant(world, giver, to, level) };
    give(world, pass, grant).await.unwrap()
}

async fn give(world: &World, pass: SharePass, grant: Grant) -> Result<Grant> {
    match world.write(Mutation::Share(pass, grant)).await? {
        Receipt::Grant { grant, .. } => Ok(grant),
        other => panic!("{other:?}"),
    }
}

/// The owner shares the world's store.
pub(crate) async fn share(world: &World, to: PrincipalId, level: Level) -> Grant {
    let grant = grant(world, world.owner, Grantee::Principal(to), level);
    give(world, world.share_pass(), grant).await.unwrap()
}

/// The owner shares the world's store with everyone.
pub(crate) async fn share_with_everyone(world: &World, level: Level) {
    let grant = grant(world, world.owner, Grantee::Everyone, level);
    give(world, world.share_pass(), grant).await.unwrap();
}

async fn share_pass_of(world: &World, giver: PrincipalId) -> SharePass {
    let caller = world.caller(giver, Audience::Host);
    policy::share(&caller, &world.facts(giver).await, world.now()).unwrap()
}

async fn grants(world: &World) -> Vec<Grant> {
    world.storage.grants(&world.read_pass()).await.unwrap()
}

async fn revoke(world: &World, pass: SharePass, id: GrantId) -> Result<Vec<GrantId>> {
    match world.write(Mutation::Revoke(pass, id)).await? {
        Receipt::Revoked(mut ids) => {
            ids.sort();
            Ok(ids)
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn readable(world: &World, reader: PrincipalId) -> Vec<StoreId> {
    let caller: Caller = world.caller(reader, Audience::Host);
    let query = CreatedQuery {
        since: None,
        until: None,
        include_archived: false,
        direction: Direction::Ascending,
        after: None,
        limit: 10,
    };
    let pass = policy::browse(&caller, world.now());
    let page = world.storage.list_stores(&pass, &query).await.unwrap();
    page.items.iter().map(|store: &Store| store.id).collect()
}

pub async fn grants_come_back_oldest_first(db: Db) {
    let world = World::new(db).await;
    let mut given = Vec::new();
    for name in ["a", "b", "c"] {
        let principal = world.new_principal(name).await;
        given.push(share(&world, principal, Level::Read).await);
    }
    let everyone = grant(&world, world.owner, Grantee::Everyone, Level::Search);
    given.push(give(&world, world.share_pass(), everyone).await.unwrap());
    assert_eq!(grants(&world).await, given);
}

pub async fn facts_hold_the_grants_that_concern_the_principal(db: Db) {
    let world = World::new(db).await;
    let (one, two) = (world.new_principal("1").await, world.new_principal("2").await);
    let to_one = share(&world, one, Level::Read).await;
    share(&world, two, Level::Read).await;
    let everyone = grant(&world, world.owner, Grantee::Everyone, Level::Search);
    let everyone = give(&world, world.share_pass(), everyone).await.unwrap();
    let facts = world.facts(one).await;
    assert_eq!(facts.store.id, world.store);
    assert_eq!(facts.grants.len(), 2);
    assert!(facts.grants.contains(&to_one) && facts.grants.contains(&everyone));
    assert_eq!(facts.attachment, None);
}

pub async fn a_second_grant_to_the_same_grantee_replaces_and_keeps_the_id(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("guest").await;
    let first = share(&world, guest, Level::Read).await;
    let second = share(&world, guest, Level::ReadWrite).await;
    assert_eq!((second.id, second.level), (first.id, Level::ReadWrite));
    assert_eq!(grants(&world).await, [second]);
}

pub async fn a_grant_gives_no_more_than_the_giver_has(db: Db) {
    let world = World::new(db).await;
    let (writer, guest) = (world.new_principal("w").await, world.new_principal("g").await);
    let end = world.in_secs(100);
    let mut limited = grant(&world, world.owner, Grantee::Principal(writer), Level::ReadWrite);
    limited.expires_at = Some(end);
    give(&world, world.share_pass(), limited).await.unwrap();
    let try_until = async |expires_at: Option<Timestamp>| {
        let mut onward = grant(&world, writer, Grantee::Principal(guest), Level::ReadWrite);
        onward.expires_at = expires_at;
        give(&world, share_pass_of(&world, writer).await, onward).await
    };
    for too_late in [None, Some(end.plus_secs(1))] {
        assert_refused!(try_until(too_late).await, StorageError::ExceedsGiver);
    }
    try_until(Some(end)).await.unwrap();
    assert_eq!(grants(&world).await.len(), 2);
}

pub async fn revoking_takes_back_what_was_given_on(db: Db) {
    let world = World::new(db).await;
    let (a, b, c) = (
        world.new_principal("a").await,
        world.new_principal("b").await,
        world.new_principal("c").await,
    );
    let to_a = share(&world, a, Level::ReadWrite).await;
    let to_b = grant(&world, a, Grantee::Principal(b), Level::ReadWrite);
    let to_b = give(&world, share_pass_of(&world, a).await, to_b).await.unwrap();
    let to_c = grant(&world, b, Grantee::Principal(c), Level::Read);
    let to_c = give(&world, share_pass_of(&world, b).await, to_c).await.unwrap();
    let other = world.new_principal("other").await;
    let kept = share(&world, other, Level::Read).await;
    let revoked = revoke(&world, world.share_pass(), to_a.id).await.unwrap();
    assert_eq!(revoked, [to_a.id, to_b.id, to_c.id]);
    assert_eq!(grants(&world).await, [kept]);
}

pub async fn a_lowered_grant_lowers_what_was_given_on(db: Db) {
    let world = World::new(db).await;
    let (guest, friend) = (world.new_principal("guest").await, world.new_principal("friend").await);
    let (reader, last) = (world.new_principal("reader").await, world.new_principal("last").await);
    share(&world, guest, Level::ReadWrite).await;
    let to = Grantee::Principal;
    give_as(&world, world.store, guest, to(friend), Level::ReadWrite).await;
    give_as(&world, world.store, friend, to(last), Level::Search).await;
    let kept = give_as(&world, world.store, guest, to(reader), Level::Read).await;
    let lowered = share(&world, guest, Level::Read).await;
    assert_eq!(grants(&world).await, sorted(vec![kept.clone(), lowered]), "what is within stays");
    let end = world.now().plus_secs(9);
    let ending =
        Grant { expires_at: Some(end), ..grant(&world, world.owner, to(guest), Level::Read) };
    let ending = give(&world, world.share_pass(), ending).await.unwrap();
    assert_eq!(grants(&world).await, [ending], "what would outlive it goes");
}

/// What everyone got carries what was given by it, as far as it goes.
pub async fn what_stood_on_everyones_grant_goes_with_it(db: Db) {
    for level in [None, Some(Level::Search), Some(Level::Read)] {
        let world = World::new(db.clone()).await;
        let guest = world.new_principal("guest").await;
        let (reader, writer) = (world.new_principal("r").await, world.new_principal("w").await);
        let last = world.new_principal("last").await;
        share_with_everyone(&world, Level::ReadWrite).await;
        let everyone = grants(&world).await.remove(0);
        let to = Grantee::Principal;
        let reading = give_as(&world, world.store, guest, to(reader), Level::ReadWrite).await;
        share(&world, reader, Level::ReadWrite).await;
        let writing = give_as(&world, world.store, guest, to(writer), Level::ReadWrite).await;
        let onward = give_as(&world, world.store, writer, to(last), Level::ReadWrite).await;
        let gone = match level {
            None => revoke(&world, world.share_pass(), everyone.id).await.unwrap(),
            Some(level) => {
                let lowered = grant(&world, world.owner, Grantee::Everyone, level);
                let share = Mutation::Share(world.share_pass(), lowered);
                match world.write(share).await.unwrap() {
                    Receipt::Grant { mut revoked, .. } => {
                        revoked.sort();
                        revoked
                    }
                    other => panic!("{other:?}"),
                }
            }
        };
        let mut expected = vec![writing.id, onward.id];
        expected.extend(level.is_none().then_some(everyone.id));
        expected.sort();
        assert_eq!(gone, expected);
        let left = grants(&world).await;
        assert!(left.iter().any(|grant| grant.id == reading.id), "the owner gave it since");
        assert!(
            !readable(&world, writer).await.contains(&world.store) || level >= Some(Level::Read)
        );
    }
}

/// A pass from before a revocation gives nothing after it.
pub async fn who_lost_their_grant_meanwhile_gives_nothing(db: Db) {
    let world = World::new(db).await;
    let (guest, friend) = (world.new_principal("guest").await, world.new_principal("friend").await);
    let held = share(&world, guest, Level::ReadWrite).await;
    let pass = share_pass_of(&world, guest).await;
    let onward = || grant(&world, guest, Grantee::Principal(friend), Level::Read);
    let given = give(&world, pass.clone(), onward()).await.unwrap();
    share(&world, guest, Level::Read).await;
    assert_refused!(give(&world, pass.clone(), onward()).await, StorageError::ExceedsGiver);
    assert_refused!(revoke(&world, pass.clone(), given.id).await, StorageError::ExceedsGiver);
    revoke(&world, world.share_pass(), held.id).await.unwrap();
    let again = give(&world, pass.clone(), onward()).await;
    assert_refused!(again, StorageError::NotFound("memory store"));
    let ending = Grant {
        expires_at: Some(world.in_secs(100)),
        ..grant(&world, world.owner, Grantee::Principal(guest), Level::ReadWrite)
    };
    give(&world, world.share_pass(), ending).await.unwrap();
    assert_refused!(give(&world, pass, onward()).await, StorageError::ExceedsGiver);
    assert_eq!(grants(&world).await.len(), 1);
}

pub async fn a_word_about_the_owner_takes_nothing_back(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("guest").await;
    let given = share(&world, guest, Level::ReadWrite).await;
    // Replaced once, because it is replacing that takes back.
    let to_owner = |level| grant(&world, world.owner, Grantee::Principal(world.owner), level);
    give(&world, world.share_pass(), to_owner(Level::ReadWrite)).await.unwrap();
    give(&world, world.share_pass(), to_owner(Level::Search)).await.unwrap();
    assert!(grants(&world).await.contains(&given));
}

fn sorted(mut grants: Vec<Grant>) -> Vec<Grant> {
    grants.sort_by_key(|grant| (grant.created_at, grant.id));
    grants
}

pub async fn a_guest_cannot_replace_what_somebody_else_gave(db: Db) {
    let world = World::new(db).await;
    let (writer, guest) = (world.new_principal("w").await, world.new_principal("g").await);
    share(&world, writer, Level::ReadWrite).await;
    let owners = share(&world, guest, Level::Read).await;
    let lowered = grant(&world, writer, Grantee::Principal(guest), Level::Search);
    let replaced = give(&world, share_pass_of(&world, writer).await, lowered).await;
    assert_refused!(replaced, StorageError::ExceedsGiver);
    assert!(grants(&world).await.contains(&owners));
}

pub async fn the_owners_grants_stand_by_themselves(db: Db) {
    let world = World::new(db).await;
    let (a, guest) = (world.new_principal("a").await, world.new_principal("g").await);
    share(&world, a, Level::ReadWrite).await;
    let to_guest = share(&world, guest, Level::Read).await;
    let to_owner = grant(&world, a, Grantee::Principal(world.owner), Level::Read);
    let to_owner = give(&world, share_pass_of(&world, a).await, to_owner).await.unwrap();
    let revoked = revoke(&world, world.share_pass(), to_owner.id).await.unwrap();
    assert_eq!(revoked, [to_owner.id]);
    assert!(grants(&world).await.contains(&to_guest));
}

pub async fn only_the_giver_or_the_owner_revokes(db: Db) {
    let world = World::new(db).await;
    let (writer, guest) = (world.new_principal("w").await, world.new_principal("g").await);
    share(&world, writer, Level::ReadWrite).await;
    let owners = share(&world, guest, Level::Read).await;
    let pass = share_pass_of(&world, writer).await;
    assert_refused!(revoke(&world, pass, owners.id).await, StorageError::NotFound(_));
    let everyone = grant(&world, writer, Grantee::Everyone, Level::Read);
    let own = give(&world, share_pass_of(&world, writer).await, everyone).await.unwrap();
    let pass = share_pass_of(&world, writer).await;
    assert_eq!(revoke(&world, pass, own.id).await.unwrap(), [own.id]);
}

pub async fn an_unknown_grant_is_not_found(db: Db) {
    let world = World::new(db).await;
    let nothing = GrantId::from_u128(next_bits());
    assert_refused!(revoke(&world, world.share_pass(), nothing).await, StorageError::NotFound(_));
}

pub async fn a_grant_of_another_store_is_not_found(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("g").await;
    let here = share(&world, guest, Level::Read).await;
    let other = world.new_store(Default::default()).await.id;
    let pass = world.system().share(world.workspace, other, world.owner, world.now());
    assert_refused!(revoke(&world, pass, here.id).await, StorageError::NotFound(_));
    assert_eq!(grants(&world).await.len(), 1);
}

pub async fn an_archived_store_can_still_be_shared_and_taken_back(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("g").await;
    world.archive().await;
    let given = share(&world, guest, Level::Read).await;
    assert_eq!(revoke(&world, world.share_pass(), given.id).await.unwrap(), [given.id]);
}

pub async fn a_reader_lists_the_stores_it_can_read(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("g").await;
    assert_eq!(readable(&world, world.owner).await, [world.store]);
    assert!(readable(&world, guest).await.is_empty());
    share(&world, guest, Level::Search).await;
    assert!(readable(&world, guest).await.is_empty(), "searching is not reading");
    share(&world, guest, Level::Read).await;
    assert_eq!(readable(&world, guest).await, [world.store]);
}

pub async fn an_expired_grant_lists_nothing_but_is_kept(db: Db) {
    let world = World::new(db).await;
    let guest = world.new_principal("g").await;
    let mut short = grant(&world, world.owner, Grantee::Principal(guest), Level::Read);
    short.expires_at = Some(world.in_secs(5));
    give(&world, world.share_pass(), short).await.unwrap();
    assert_eq!(readable(&world, guest).await, [world.store]);
    world.move_clock(4);
    assert!(readable(&world, guest).await.is_empty());
    assert_eq!(grants(&world).await.len(), 1);
}

pub async fn an_own_grant_goes_before_one_to_everyone(db: Db) {
    let world = World::new(db).await;
    let (guest, other) = (world.new_principal("g").await, world.new_principal("o").await);
    let everyone = grant(&world, world.owner, Grantee::Everyone, Level::Read);
    give(&world, world.share_pass(), everyone).await.unwrap();
    assert_eq!(readable(&world, guest).await, [world.store]);
    share(&world, guest, Level::Search).await;
    assert!(readable(&world, guest).await.is_empty());
    assert_eq!(readable(&world, other).await, [world.store]);
}
