//! Groups: who is in them, whose stores that opens, and what goes when somebody leaves.

use super::fixture::*;
use super::grant::{give_as, readable};
use loci_model::policy::{self, Relation};
use loci_model::store::Who;
use loci_model::{
    Address, Audience, Caller, Grant, GrantId, Grantee, Level, Membership, MemorySwitches,
    Principal, PrincipalId, PrincipalKind, Store, StoreId, StorePolicy,
};
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

/// A group with an agent and a user in it, and a store of each of the three.
struct Room {
    world: World,
    group: PrincipalId,
    agent: PrincipalId,
    user: PrincipalId,
    of_group: StoreId,
    of_agent: StoreId,
    of_user: StoreId,
}

impl Room {
    async fn new(db: Db) -> Self {
        let world = World::new(db).await;
        let group = world.new_one(PrincipalKind::Group, "room").await;
        let agent = world.new_one(PrincipalKind::Agent, "agent").await;
        let user = world.new_one(PrincipalKind::User, "user").await;
        let of_group = store_of(&world, group).await;
        let of_agent = store_of(&world, agent).await;
        let of_user = store_of(&world, user).await;
        let room = Self { world, group, agent, user, of_group, of_agent, of_user };
        room.world.join(group, agent).await;
        room.world.join(group, user).await;
        room
    }

    async fn relation(&self, who: PrincipalId, store: StoreId) -> Option<Relation> {
        let facts = self.world.storage.facts(self.world.workspace, store, who, None).await;
        facts.unwrap().expect("the store is there").relation
    }

    /// What somebody reaches, by all three ways of asking.
    async fn reach(&self, who: PrincipalId) -> Vec<StoreId> {
        let caller = self.world.caller(who, Audience::Host);
        let known = self.world.storage.all_facts(&caller).await.unwrap();
        for facts in known.iter() {
            assert_eq!(facts.relation, self.relation(who, facts.store.id).await);
        }
        let known: Vec<StoreId> = known.iter().map(|facts| facts.store.id).collect();
        assert_eq!(readable(&self.world, who).await, known);
        known
    }

    async fn grants(&self, store: StoreId) -> Vec<GrantId> {
        let pass = self.world.system().read(self.world.workspace, store, self.world.now());
        let grants = self.world.storage.grants(&pass).await.unwrap();
        grants.iter().map(|grant| grant.id).collect()
    }

    async fn give(&self, store: StoreId, by: PrincipalId, to: PrincipalId) -> GrantId {
        let to = Grantee::Principal(to);
        give_as(&self.world, store, by, to, Level::ReadWrite).await.id
    }

    /// The owner of a store gives something of it.
    async fn give_for(&self, store: StoreId, owner: PrincipalId, to: Grantee) -> GrantId {
        give_as(&self.world, store, owner, to, Level::ReadWrite).await.id
    }
}

/// The home of somebody.
async fn store_of(world: &World, owner: PrincipalId) -> StoreId {
    store_at(world, owner, Some(Address::home(owner))).await
}

async fn store_at(world: &World, owner: PrincipalId, address: Option<Address>) -> StoreId {
    let policy = StorePolicy { share: Who::Writer, ..StorePolicy::default() };
    let store = Store { owner, address, ..world.plan_store(policy) };
    world.write(Mutation::CreateStore(store.clone())).await.unwrap();
    store.id
}

pub async fn somebody_is_in_a_group_once(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let before = world.storage.members(&world.convene_pass(), room.group).await.unwrap();
    let again = world.join(room.group, room.agent).await;
    assert_eq!(again, before[0], "who is in already stays since then");
    let members = world.storage.members(&world.convene_pass(), room.group).await.unwrap();
    assert_eq!(members, before);
    assert_eq!(members.iter().map(|one| one.member).collect::<Vec<_>>(), [room.agent, room.user]);
}

pub async fn only_groups_have_members_and_none_is_one(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let other = world.new_one(PrincipalKind::Group, "other").await;
    let service = world.new_one(PrincipalKind::Service, "service").await;
    for (group, member, field) in [
        (room.agent, room.user, "group"),
        (room.user, room.agent, "group"),
        (service, room.agent, "group"),
        (room.group, other, "member"),
        (room.group, room.group, "member"),
    ] {
        let new = Membership { group, member, since: world.now() };
        let added = world.write(Mutation::AddMember(world.convene_pass(), new)).await;
        assert_refused!(added, StorageError::Invalid(invalid) if invalid.field == field);
    }
    let all = world.storage.memberships(&world.convene_pass(), None, 10).await.unwrap();
    assert_eq!(all.len(), 2);
}

pub async fn groups_stay_in_their_workspace(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let workspace = world.new_workspace().await;
    let stranger = Principal { workspace, ..world.plan_principal(PrincipalKind::User, "stranger") };
    world.write(Mutation::CreatePrincipal(stranger.clone())).await.unwrap();
    let elsewhere = world.system().convene(workspace, world.now());
    let nobody = PrincipalId::from_u128(next_bits());
    for (pass, group, member) in [
        (world.convene_pass(), room.group, stranger.id),
        (elsewhere.clone(), room.group, stranger.id),
        (elsewhere.clone(), room.group, room.user),
        (world.convene_pass(), room.group, nobody),
        (world.convene_pass(), nobody, room.user),
    ] {
        let new = Membership { group, member, since: world.now() };
        let added = world.write(Mutation::AddMember(pass, new)).await;
        assert_refused!(added, StorageError::NotFound("principal"));
    }
    let (group, member) = (room.group, room.agent);
    let remove = Mutation::RemoveMember { pass: elsewhere.clone(), group, member };
    assert_refused!(world.write(remove).await, StorageError::NotFound("member"));
    assert_eq!(world.storage.members(&elsewhere, group).await.unwrap(), []);
    assert_eq!(world.storage.memberships(&elsewhere, None, 10).await.unwrap(), []);
    assert_eq!(room.relation(room.agent, room.of_group).await, Some(Relation::Member));
}

pub async fn who_is_not_in_a_group_cannot_leave_it(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    world.leave(room.group, room.agent).await;
    for (group, member) in [(room.group, room.agent), (room.user, room.agent)] {
        let remove = Mutation::RemoveMember { pass: world.convene_pass(), group, member };
        assert_refused!(world.write(remove).await, StorageError::NotFound("member"));
    }
}

pub async fn memberships_come_in_pages(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let second = world.new_one(PrincipalKind::Group, "second").await;
    let mut expected = world.storage.members(&world.convene_pass(), room.group).await.unwrap();
    // The later id joins first.
    for member in [room.user, room.agent, world.owner] {
        expected.push(world.join(second, member).await);
    }
    let in_second = world.storage.members(&world.convene_pass(), second).await.unwrap();
    assert_eq!(in_second, expected[2..], "the order of joining");
    expected.sort_by_key(|one| (one.group, one.member));
    let (mut joined, mut after) = (Vec::<Membership>::new(), None);
    loop {
        let page = world.storage.memberships(&world.convene_pass(), after, 2).await.unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        after = Some((last.group, last.member));
        joined.extend(page);
    }
    assert_eq!(joined, expected);
}

pub async fn a_member_reaches_the_store_of_its_group(db: Db) {
    let room = Room::new(db).await;
    for who in [room.agent, room.user] {
        assert_eq!(room.relation(who, room.of_group).await, Some(Relation::Member));
    }
    assert_eq!(room.relation(room.world.owner, room.of_group).await, None);
    assert_eq!(room.relation(room.group, room.of_group).await, None);
    assert_eq!(room.reach(room.user).await, [room.of_group, room.of_user]);
    room.world.leave(room.group, room.user).await;
    assert_eq!(room.relation(room.user, room.of_group).await, None);
    assert_eq!(room.reach(room.user).await, [room.of_user]);
    room.world.join(room.group, room.user).await;
    assert_eq!(room.reach(room.user).await, [room.of_group, room.of_user]);
}

pub async fn who_is_in_a_group_with_a_user_is_its_companion(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    assert_eq!(room.relation(room.agent, room.of_user).await, Some(Relation::Companion));
    assert_eq!(room.relation(room.user, room.of_agent).await, None, "agents are no users");
    assert_eq!(room.relation(room.user, room.of_user).await, None, "nobody is their own");
    assert_eq!(room.relation(room.group, room.of_user).await, None);
    assert_eq!(room.reach(room.agent).await, [room.of_group, room.of_agent, room.of_user]);
    let other = world.new_one(PrincipalKind::Agent, "other").await;
    world.join(room.group, other).await;
    assert_eq!(room.relation(other, room.of_user).await, Some(Relation::Companion));
    world.leave(room.group, other).await;
    assert_eq!(room.relation(other, room.of_user).await, None);
    assert_eq!(room.relation(room.agent, room.of_user).await, Some(Relation::Companion));
}

pub async fn being_in_a_group_with_a_user_opens_nothing_to_other_users(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    for kind in [PrincipalKind::User, PrincipalKind::Service] {
        let other = world.new_one(kind, &format!("{kind:?}")).await;
        world.join(room.group, other).await;
        assert_eq!(room.relation(other, room.of_user).await, None);
        assert_eq!(room.reach(other).await, [room.of_group]);
    }
}

/// What a user or a group has beside its home is not opened by being with them.
pub async fn being_in_a_group_opens_homes_and_no_other_stores(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let second = world.new_one(PrincipalKind::Group, "second").await;
    world.join(second, room.agent).await;
    let mut others = Vec::new();
    for (owner, address) in [
        (room.user, None),
        (room.user, Some(Address::callers(room.user))),
        (room.group, None),
        (room.user, Some(Address::parse("home:of nobody").unwrap())),
        // Where somebody else's home would be.
        (room.user, Some(Address::home(second))),
    ] {
        others.push(store_at(world, owner, address).await);
    }
    assert_eq!(room.reach(room.agent).await, [room.of_group, room.of_agent, room.of_user]);
    for store in others {
        let caller = world.caller(room.agent, Audience::Host);
        let facts = world.storage.facts(world.workspace, store, room.agent, None).await.unwrap();
        assert!(policy::read(&caller, &facts.unwrap(), world.now()).is_err());
    }
}

pub async fn companions_stay_while_one_group_has_both(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let second = world.new_one(PrincipalKind::Group, "second").await;
    world.join(second, room.user).await;
    world.join(second, room.agent).await;
    world.leave(room.group, room.user).await;
    assert_eq!(room.relation(room.agent, room.of_user).await, Some(Relation::Companion));
    assert_eq!(room.relation(room.user, room.of_group).await, None);
    world.leave(second, room.agent).await;
    assert_eq!(room.relation(room.agent, room.of_user).await, None);
    assert_eq!(room.reach(room.agent).await, [room.of_group, room.of_agent]);
}

pub async fn an_administrator_knows_how_it_stands_to_every_owner(db: Db) {
    let room = Room::new(db).await;
    let caller = Caller { is_admin: true, ..room.world.caller(room.agent, Audience::Host) };
    let known = room.world.storage.all_facts(&caller).await.unwrap();
    let known: Vec<_> = known.iter().map(|facts| (facts.store.id, facts.relation)).collect();
    let expected = [
        (room.world.store, None),
        (room.of_group, Some(Relation::Member)),
        (room.of_agent, None),
        (room.of_user, Some(Relation::Companion)),
    ];
    assert_eq!(known, expected);
}

pub async fn what_is_switched_off_is_not_listed(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let listed = async |memory: MemorySwitches| {
        let caller = Caller { memory, ..world.caller(room.agent, Audience::Host) };
        let query = loci_model::query::CreatedQuery {
            since: None,
            until: None,
            include_archived: false,
            direction: loci_model::query::Direction::Descending,
            after: None,
            limit: 10,
        };
        let pass = policy::browse(&caller, world.now());
        let page = world.storage.list_stores(&pass, &query).await.unwrap();
        page.items.iter().map(|store| store.id).collect::<Vec<_>>()
    };
    let on = MemorySwitches::default();
    assert_eq!(listed(on).await, [room.of_user, room.of_agent, room.of_group]);
    let off = MemorySwitches { groups: false, ..on };
    assert_eq!(listed(off).await, [room.of_user, room.of_agent]);
    let off = MemorySwitches { users: false, ..on };
    assert_eq!(listed(off).await, [room.of_agent, room.of_group]);
    assert!(listed(MemorySwitches { is_on: false, ..on }).await.is_empty());
}

pub async fn a_grant_goes_before_membership_and_membership_before_everyone(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let everyone = Grantee::Everyone;
    give_as(world, room.of_group, room.group, everyone, Level::Search).await;
    assert!(readable(world, room.agent).await.contains(&room.of_group));
    let lowered = Grantee::Principal(room.agent);
    give_as(world, room.of_group, room.group, lowered, Level::Search).await;
    assert!(!readable(world, room.agent).await.contains(&room.of_group));
}

pub async fn leaving_takes_back_what_was_given_of_the_groups_store(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let (guest, friend) = (world.new_principal("guest").await, world.new_principal("f").await);
    let to_guest = room.give(room.of_group, room.agent, guest).await;
    let to_friend = room.give(room.of_group, guest, friend).await;
    let by_user = room.give(room.of_group, room.user, world.owner).await;
    let own = room.give(room.of_agent, room.agent, guest).await;
    assert_eq!(world.leave(room.group, room.agent).await, [to_guest, to_friend]);
    assert_eq!(room.grants(room.of_group).await, [by_user]);
    assert_eq!(room.grants(room.of_agent).await, [own], "one's own store is one's own");
    assert!(!readable(world, guest).await.contains(&room.of_group));
    world.assert_sound().await;
}

pub async fn leaving_takes_back_what_was_given_of_users_stores(db: Db) {
    for user_leaves in [false, true] {
        let room = Room::new(db.clone()).await;
        let world = &room.world;
        world.join(room.group, world.owner).await;
        let of_owner = store_of(world, world.owner).await;
        let guest = world.new_principal("guest").await;
        let of_user = room.give(room.of_user, room.agent, guest).await;
        let given = room.give(of_owner, room.agent, room.of_nobody().await).await;
        let leaver = if user_leaves { room.user } else { room.agent };
        let mut expected = vec![of_user];
        expected.extend((!user_leaves).then_some(given));
        expected.sort();
        assert_eq!(world.leave(room.group, leaver).await, expected);
        assert_eq!(room.grants(room.of_user).await, []);
        assert_eq!(room.grants(of_owner).await.len(), usize::from(user_leaves));
    }
}

impl Room {
    /// Somebody who is in no group.
    async fn of_nobody(&self) -> PrincipalId {
        self.world.new_one(PrincipalKind::Agent, &format!("nobody {}", next_bits())).await
    }
}

pub async fn leaving_keeps_what_has_another_ground(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let guest = world.new_principal("guest").await;
    // Another group has both.
    let second = world.new_one(PrincipalKind::Group, "second").await;
    world.join(second, room.agent).await;
    world.join(second, room.user).await;
    let of_user = room.give(room.of_user, room.agent, guest).await;
    // Its own grant, by somebody else.
    room.give(room.of_group, room.user, room.agent).await;
    room.give(room.of_group, room.agent, guest).await;
    // An administrator needs no group.
    let admin = world.plan_principal(PrincipalKind::Service, "admin");
    let admin = Principal { is_admin: true, ..admin };
    world.write(Mutation::CreatePrincipal(admin.clone())).await.unwrap();
    world.join(room.group, admin.id).await;
    let to = room.of_nobody().await;
    room.give(room.of_group, admin.id, to).await;
    let before = room.grants(room.of_group).await;
    assert_eq!(before.len(), 3);
    for leaver in [room.agent, admin.id] {
        assert_eq!(world.leave(room.group, leaver).await, []);
    }
    assert_eq!(room.grants(room.of_group).await, before);
    assert_eq!(room.grants(room.of_user).await, [of_user]);
    // The last ground goes.
    assert_eq!(world.leave(second, room.user).await, [of_user]);
}

pub async fn what_everyone_has_is_a_ground(db: Db) {
    let room = Room::new(db).await;
    let guest = room.of_nobody().await;
    room.give_for(room.of_group, room.group, Grantee::Everyone).await;
    room.give(room.of_group, room.agent, guest).await;
    assert_eq!(room.world.leave(room.group, room.agent).await, []);
    assert_eq!(room.grants(room.of_group).await.len(), 2);
}

pub async fn an_expired_grant_is_no_ground(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let pass = world.system().share(world.workspace, room.of_group, room.group, world.now());
    let short = Grant {
        id: GrantId::from_u128(next_bits()),
        store: room.of_group,
        grantee: Grantee::Principal(room.agent),
        level: Level::ReadWrite,
        given_by: room.group,
        expires_at: Some(world.in_secs(2)),
        created_at: world.now(),
    };
    let kept = short.id;
    world.write(Mutation::Share(pass, short)).await.unwrap();
    world.move_clock(5);
    let given = room.give(room.of_group, room.agent, room.of_nobody().await).await;
    assert_eq!(world.leave(room.group, room.agent).await, [given]);
    assert_eq!(room.grants(room.of_group).await, [kept]);
}

/// Two who give to each other must not keep each other in.
pub async fn nobody_stands_on_what_they_gave_themselves(db: Db) {
    let room = Room::new(db).await;
    let (one, two) = (room.of_nobody().await, room.of_nobody().await);
    let to_one = room.give(room.of_group, room.agent, one).await;
    let to_two = room.give(room.of_group, one, two).await;
    let back = room.give(room.of_group, two, room.agent).await;
    let itself = room.give(room.of_user, room.agent, room.agent).await;
    let mut expected = vec![to_one, to_two, back, itself];
    expected.sort();
    assert_eq!(room.world.leave(room.group, room.agent).await, expected);
    assert_eq!(room.grants(room.of_group).await, []);
    assert_eq!(room.reach(room.agent).await, [room.of_agent]);
}

/// What a member gives back to somebody who leaves is that member's to give.
pub async fn a_member_can_give_to_who_leaves(db: Db) {
    let room = Room::new(db).await;
    room.give(room.of_group, room.agent, room.user).await;
    room.give(room.of_group, room.user, room.agent).await;
    assert_eq!(room.world.leave(room.group, room.agent).await, []);
    assert_eq!(room.reach(room.agent).await, [room.of_group, room.of_agent]);
}

/// Whoever has a pass from before must still be what it says when it is used.
pub async fn who_left_meanwhile_gives_and_takes_back_nothing(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let by_user = room.give(room.of_group, room.user, world.owner).await;
    let friend = Grantee::Principal(room.of_nobody().await);
    for store in [room.of_group, room.of_user] {
        let facts = world.storage.facts(world.workspace, store, room.agent, None).await.unwrap();
        let caller = world.caller(room.agent, Audience::Host);
        let pass = policy::share(&caller, &facts.unwrap(), world.now()).unwrap();
        world.leave(room.group, room.agent).await;
        let grant = Grant {
            id: GrantId::from_u128(next_bits()),
            store,
            grantee: friend,
            level: Level::Read,
            given_by: room.agent,
            expires_at: None,
            created_at: world.now(),
        };
        let given = world.write(Mutation::Share(pass.clone(), grant)).await;
        assert_refused!(given, StorageError::NotFound("memory store"));
        let revoked = world.write(Mutation::Revoke(pass, by_user)).await;
        assert_refused!(revoked, StorageError::NotFound(_));
        world.join(room.group, room.agent).await;
    }
    assert_eq!(room.grants(room.of_group).await, [by_user]);
    assert_eq!(room.grants(room.of_user).await, []);
}

/// By giving something to its giver and taking that back, a guest must not reach a grant.
pub async fn a_guest_takes_nothing_from_those_who_need_no_grant(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let admin = world.plan_principal(PrincipalKind::User, "admin");
    let admin = Principal { is_admin: true, ..admin };
    world.write(Mutation::CreatePrincipal(admin.clone())).await.unwrap();
    for (store, owner, giver) in [
        (room.of_group, room.group, room.agent),
        (room.of_user, room.user, room.agent),
        (room.of_agent, room.agent, admin.id),
    ] {
        let (guest, friend) = (room.of_nobody().await, room.of_nobody().await);
        room.give(store, owner, guest).await;
        let pass = world.system().share(world.workspace, store, giver, world.now());
        let kept = Grant {
            id: GrantId::from_u128(next_bits()),
            store,
            grantee: Grantee::Principal(friend),
            level: Level::ReadWrite,
            given_by: giver,
            expires_at: None,
            created_at: world.now(),
        };
        let kept_id = kept.id;
        world.write(Mutation::Share(pass, kept)).await.unwrap();
        let to_giver = room.give(store, guest, giver).await;
        let facts = world.storage.facts(world.workspace, store, guest, None).await.unwrap();
        let caller = world.caller(guest, Audience::Host);
        let pass = policy::share(&caller, &facts.unwrap(), world.now()).unwrap();
        let revoked = world.write(Mutation::Revoke(pass, to_giver)).await.unwrap();
        assert_eq!(revoked, Receipt::Revoked(vec![to_giver]));
        assert!(room.grants(store).await.contains(&kept_id));
    }
}

pub async fn only_owners_and_members_lower_who_is_near(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let other = room.of_nobody().await;
    world.join(room.group, other).await;
    let guest = room.of_nobody().await;
    let lower = async |store: StoreId, giver: PrincipalId| {
        let facts = world.storage.facts(world.workspace, store, giver, None).await.unwrap();
        let caller = world.caller(giver, Audience::Host);
        let pass = policy::share(&caller, &facts.unwrap(), world.now()).unwrap();
        let grant = Grant {
            id: GrantId::from_u128(next_bits()),
            store,
            grantee: Grantee::Principal(other),
            level: Level::Search,
            given_by: giver,
            expires_at: None,
            created_at: world.now(),
        };
        world.write(Mutation::Share(pass, grant)).await
    };
    room.give(room.of_group, room.group, guest).await;
    room.give(room.of_user, room.user, guest).await;
    assert_refused!(lower(room.of_group, guest).await, StorageError::ExceedsGiver);
    assert_refused!(lower(room.of_user, guest).await, StorageError::ExceedsGiver);
    assert_refused!(lower(room.of_user, room.agent).await, StorageError::ExceedsGiver);
    assert!(readable(world, other).await.contains(&room.of_group));
    lower(room.of_group, room.agent).await.unwrap();
    lower(room.of_user, room.user).await.unwrap();
    assert_eq!(readable(world, other).await, []);
}

/// Sharing with somebody unknown makes an agent of that name; whoever may say what it is still can.
pub async fn who_is_nobody_yet_becomes_what_they_are(db: Db) {
    let room = Room::new(db).await;
    let world = &room.world;
    let recast =
        |id, kind, is_admin| world.write(Mutation::Recast(world.admin_pass(), id, kind, is_admin));
    for (kind, is_admin) in [
        (PrincipalKind::Group, false),
        (PrincipalKind::User, false),
        (PrincipalKind::Service, true),
    ] {
        let nobody = room.of_nobody().await;
        room.give(room.of_group, room.agent, nobody).await;
        let Receipt::Principal(made) = recast(nobody, kind, is_admin).await.unwrap() else {
            panic!("a principal")
        };
        assert_eq!((made.id, made.kind, made.is_admin), (nobody, kind, is_admin));
        let found = world.storage.principal(world.workspace, nobody).await.unwrap();
        assert_eq!(found.as_ref(), Some(&made));
        let named = world.storage.principal_by_name(world.workspace, &made.name).await.unwrap();
        assert_eq!(named, found, "nothing older is remembered");
        let again = recast(nobody, PrincipalKind::Agent, false).await;
        assert_refused!(again, StorageError::Taken("name"));
    }
    let (giver, keeper) = (room.of_nobody().await, room.of_nobody().await);
    room.give(room.of_group, room.agent, giver).await;
    room.give(room.of_group, giver, keeper).await;
    let key = loci_model::ApiKey { principal: keeper, ..super::key::plan(world, 77) };
    world.write(Mutation::CreateKey(key)).await.unwrap();
    let newcomer = room.of_nobody().await;
    world.join(room.group, newcomer).await;
    for somebody in [room.agent, room.user, room.group, giver, keeper, newcomer] {
        let refused = recast(somebody, PrincipalKind::Group, false).await;
        assert_refused!(refused, StorageError::Taken("name"));
    }
    let nobody = PrincipalId::from_u128(next_bits());
    let unknown = recast(nobody, PrincipalKind::User, false).await;
    assert_refused!(unknown, StorageError::NotFound("principal"));
    let elsewhere = world.system().administer(world.new_workspace().await, world.now());
    let other = Mutation::Recast(elsewhere, room.of_nobody().await, PrincipalKind::User, false);
    assert_refused!(world.write(other).await, StorageError::NotFound("principal"));
}
