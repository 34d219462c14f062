//! Groups, addresses and the audit log with several servers at once: numbers without gaps, one store
//! at an address, nobody taken for being where they are no longer, and nobody waiting in a circle.

use crate::database::Scratch;
use futures_util::future::join_all;
use loci_model::event::LogEnd;
use loci_model::policy::{self, ConvenePass, Facts};
use loci_model::store::Who;
use loci_model::{
    Actor, Address, Audience, Event, Grant, GrantId, Grantee, Happening, Level, Membership,
    MemorySwitches, Principal, PrincipalId, PrincipalKind, Store, StoreId, StorePolicy, event,
    limit,
};
use loci_storage::{Idempotency, Mutation, Receipt, Storage, StorageError};
use loci_storage_contract::fixture::{World, next_bits};
use loci_test_kit::amount;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::NoTls;

const SERVERS: usize = 3;

/// A workspace that several servers serve.
struct Town {
    world: World,
    servers: Vec<Arc<dyn Storage>>,
    scratch: Scratch,
}

impl Town {
    async fn new() -> Self {
        let scratch = Scratch::new().await;
        let mut servers: Vec<Arc<dyn Storage>> = Vec::new();
        for _ in 0..SERVERS {
            servers.push(Arc::new(scratch.open().await));
        }
        let world = World::new(Arc::clone(&servers[0])).await;
        Self { world, servers, scratch }
    }

    async fn principal(&self, kind: PrincipalKind, name: &str) -> PrincipalId {
        let principal = Principal {
            id: PrincipalId::from_u128(next_bits()),
            workspace: self.world.workspace,
            kind,
            name: name.into(),
            is_admin: false,
            memory: MemorySwitches::default(),
            created_at: self.world.now(),
        };
        let id = principal.id;
        self.world.write(Mutation::CreatePrincipal(principal)).await.unwrap();
        id
    }

    fn convene(&self) -> ConvenePass {
        self.world.system().convene(self.world.workspace, self.world.now())
    }

    async fn join(&self, group: PrincipalId, member: PrincipalId) {
        let since = self.world.now();
        let joins = Membership { group, member, since };
        self.world.write(Mutation::AddMember(self.convene(), joins)).await.unwrap();
    }

    fn leave(&self, group: PrincipalId, member: PrincipalId) -> Mutation {
        Mutation::RemoveMember { pass: self.convene(), group, member }
    }

    /// The owner's store, shared by somebody who is near to its owner.
    fn share(&self, store: StoreId, giver: PrincipalId, to: PrincipalId) -> Mutation {
        let (workspace, now) = (self.world.workspace, self.world.now());
        let grant = Grant {
            id: GrantId::from_u128(next_bits()),
            store,
            grantee: Grantee::Principal(to),
            level: Level::Read,
            given_by: giver,
            expires_at: None,
            created_at: now,
        };
        Mutation::Share(self.world.system().share(workspace, store, giver, now), grant)
    }

    async fn home(&self, owner: PrincipalId) -> StoreId {
        let policy = StorePolicy { share: Who::Writer, ..StorePolicy::default() };
        let address = Some(Address::home(owner));
        let store = Store { owner, address, ..self.world.plan_store(policy) };
        let id = store.id;
        self.world.write(Mutation::CreateStore(store)).await.unwrap();
        id
    }

    async fn facts(&self, store: StoreId, who: PrincipalId) -> Facts {
        let facts = self.servers[2].facts(self.world.workspace, store, who, None).await;
        facts.unwrap().unwrap()
    }

    fn happening(&self, detail: &str) -> Happening {
        Happening {
            workspace: self.world.workspace,
            at: self.world.now(),
            actor: Actor::System,
            principal: self.world.owner,
            kind: event::kind::SEARCHED,
            store: Some(self.world.store),
            subject: None,
            detail: Some(detail.into()),
        }
    }

    fn audited(&self, mutation: Mutation) -> Mutation {
        Mutation::Audited(Box::new(mutation), self.happening("audited"))
    }

    async fn events(&self) -> Vec<Event> {
        self.servers[1].events(&self.world.admin_pass(), 0, 10_000).await.unwrap()
    }

    async fn assert_chained(&self) {
        let mut end = LogEnd::default();
        for event in self.events().await {
            assert!(event.follows(end), "{event:?} after {end:?}");
            end = event.end();
        }
        self.world.assert_sound().await;
    }

    async fn as_operator(&self, sql: &str) {
        let (client, connection) =
            tokio_postgres::connect(&self.scratch.url(), NoTls).await.unwrap();
        let link = tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
        drop(client);
        link.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_several_servers_is_one_chain() {
    const EACH: usize = 20;
    let town = Town::new().await;
    let writes = (0..EACH * SERVERS).map(|n| {
        let detail = format!("a query \0 {n}");
        let server = Arc::clone(&town.servers[n % SERVERS]);
        let record = Mutation::Record(town.happening(&detail));
        async move { server.write(record, None).await.unwrap().receipt }
    });
    let mut numbers: Vec<u64> = join_all(writes)
        .await
        .into_iter()
        .map(|receipt| match receipt {
            Receipt::Recorded(seq) => seq,
            other => panic!("{other:?}"),
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=(EACH * SERVERS) as u64).collect::<Vec<_>>());
    town.assert_chained().await;
    let mut details: Vec<_> = town.events().await.into_iter().map(|event| event.detail).collect();
    details.sort();
    details.dedup();
    assert_eq!(details.len(), EACH * SERVERS);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_leaves_no_event_and_what_is_repeated_leaves_one() {
    let town = Town::new().await;
    let group = town.principal(PrincipalKind::Group, "chat").await;
    let refused = town.audited(town.leave(group, town.world.owner));
    assert!(town.world.write(refused).await.is_err());
    assert_eq!(town.events().await, []);
    let key = Idempotency {
        workspace: town.world.workspace,
        scope: next_bits(),
        key: "once".into(),
        fingerprint: [1; 32],
        now: town.world.now(),
    };
    town.join(group, town.world.owner).await;
    let leaves = town.audited(town.leave(group, town.world.owner));
    let tries = town.servers.iter().map(|server| server.write(leaves.clone(), Some(key.clone())));
    let applied: Vec<_> = join_all(tries).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(applied.iter().filter(|applied| !applied.is_replay).count(), 1);
    assert!(applied.iter().all(|other| other.receipt == applied[0].receipt));
    assert_eq!(town.events().await.len(), 1);
    town.assert_chained().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_changed_is_found_out() {
    let town = Town::new().await;
    for n in 0..3 {
        town.world.write(Mutation::Record(town.happening(&n.to_string()))).await.unwrap();
    }
    town.assert_chained().await;
    for (spoil, problem) in [
        ("update loci.event set detail = 'other' where seq = 2", "event 2 does not follow"),
        ("update loci.event set detail = '1' where seq = 2", ""),
        ("update loci.event_end set seq = 4", "the audit log ends at 3, expected 4"),
        ("update loci.event_end set seq = 3; delete from loci.event where seq = 3", "ends at 2"),
        ("delete from loci.event where seq > 1", "ends at 1, expected 3"),
        ("delete from loci.event", "ends at 0, expected 3"),
        ("delete from loci.event_end", "expected an end that was written down"),
    ] {
        town.as_operator(spoil).await;
        let problems = town.world.storage.check().await.unwrap().problems;
        assert_eq!(problems.is_empty(), problem.is_empty(), "{spoil}: {problems:?}");
        assert!(problems.iter().all(|found| found.contains(problem)), "{spoil}: {problems:?}");
    }
}

/// Whoever cuts off what they did must not have it forgotten with the next event.
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_was_cut_off_does_not_heal() {
    for spoil in [
        "delete from loci.event where seq > 1",
        "delete from loci.event; delete from loci.event_end",
    ] {
        let town = Town::new().await;
        for n in 0..3 {
            town.world.write(Mutation::Record(town.happening(&n.to_string()))).await.unwrap();
        }
        town.as_operator(spoil).await;
        for n in 0..3 {
            town.world.write(Mutation::Record(town.happening(&n.to_string()))).await.unwrap();
        }
        let problems = town.world.storage.check().await.unwrap().problems;
        assert!(problems[0].contains("does not follow the one before"), "{spoil}: {problems:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_store_is_made_at_an_address_whoever_asks() {
    let town = Town::new().await;
    let address = Address::home(town.world.owner);
    let plan = || Store {
        address: Some(address.clone()),
        ..town.world.plan_store(StorePolicy::default())
    };
    for _ in 0..5 {
        let makes = (0..9).map(|n| {
            let server = Arc::clone(&town.servers[n % SERVERS]);
            let create = town.audited(Mutation::CreateStore(plan()));
            async move { server.write(create, None).await.unwrap().receipt }
        });
        let made = join_all(makes).await;
        assert!(made.iter().all(|receipt| *receipt == made[0]), "{made:?}");
        let Receipt::Store(store) = &made[0] else { panic!("{made:?}") };
        for server in &town.servers {
            let found = server.store_at(town.world.workspace, &address).await.unwrap();
            assert_eq!(found, Some(store.id));
        }
        let pass = town.world.system().manage(town.world.workspace, store.id, town.world.now());
        town.world.write(Mutation::RemoveStore(pass)).await.unwrap();
        for server in &town.servers {
            let found = server.store_at(town.world.workspace, &address).await.unwrap();
            assert_eq!(found, None);
        }
    }
    town.assert_chained().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_two_groups_at_once_keeps_nothing_of_either() {
    let town = Town::new().await;
    let owner = town.world.owner;
    let store = town.home(owner).await;
    let guest = town.principal(PrincipalKind::Agent, "guest").await;
    let friend = town.principal(PrincipalKind::Agent, "friend").await;
    for round in 0..10 {
        let mut groups = Vec::new();
        for n in 0..2 {
            let group = town.principal(PrincipalKind::Group, &format!("chat {round} {n}")).await;
            town.join(group, owner).await;
            town.join(group, guest).await;
            groups.push(group);
        }
        town.world.write(town.share(store, guest, friend)).await.unwrap();
        let leaves = groups.iter().zip(&town.servers).map(|(group, server)| {
            let leave = town.audited(town.leave(*group, guest));
            async move { server.write(leave, None).await.unwrap().receipt }
        });
        let revoked: usize = join_all(leaves)
            .await
            .into_iter()
            .map(|receipt| match receipt {
                Receipt::MemberRemoved { revoked, .. } => revoked.len(),
                other => panic!("{other:?}"),
            })
            .sum();
        assert_eq!(revoked, 1);
        assert_eq!(town.facts(store, friend).await.grants, []);
        assert_eq!(town.facts(store, guest).await.relation, None);
    }
    town.assert_chained().await;
}

/// Whoever loses the right to give in the same moment in which they give leaves nothing behind, on
/// whatever servers the two happen.
#[tokio::test(flavor = "multi_thread")]
async fn who_loses_the_right_to_give_while_giving_leaves_nothing_behind() {
    let town = Town::new().await;
    let owner = town.world.owner;
    let store = town.home(owner).await;
    let guest = town.principal(PrincipalKind::Agent, "guest").await;
    let friend = town.principal(PrincipalKind::Agent, "friend").await;
    let group = town.principal(PrincipalKind::Group, "chat").await;
    town.join(group, owner).await;
    let (mut given, mut wait) = (0, Duration::ZERO);
    for round in 0..amount("giving_races") {
        let (workspace, now) = (town.world.workspace, town.world.now());
        let ends = if round % 2 == 0 {
            town.join(group, guest).await;
            town.leave(group, guest)
        } else {
            let Mutation::Share(pass, grant) = town.share(store, owner, guest) else { panic!() };
            let grant = Grant { level: Level::ReadWrite, ..grant };
            let id = grant.id;
            town.world.write(Mutation::Share(pass, grant)).await.unwrap();
            Mutation::Revoke(town.world.system().share(workspace, store, owner, now), id)
        };
        let facts = town.facts(store, guest).await;
        let caller = town.world.caller(guest, Audience::Host);
        let pass = policy::share(&caller, &facts, now).unwrap();
        let Mutation::Share(_, grant) = town.share(store, guest, friend) else { panic!() };
        let gives = town.audited(Mutation::Share(pass, grant));
        let (gave, ended) = tokio::join!(town.servers[0].write(gives, None), async {
            tokio::time::sleep(wait).await;
            town.servers[1].write(town.audited(ends), None).await
        });
        ended.unwrap();
        given += usize::from(gave.is_ok());
        // The next round helps the loser of this one, so that both win some on any machine.
        wait = if gave.is_ok() { wait / 2 } else { wait * 2 + Duration::from_micros(100) };
        if let Err(error) = gave {
            assert!(matches!(error, StorageError::NotFound("memory store")), "{error}");
        }
        assert_eq!(town.facts(store, friend).await.grants, [], "round {round}");
    }
    assert!(given > 0, "a race that is always lost shows nothing");
    town.assert_chained().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_twice_at_once_leaves_once() {
    let town = Town::new().await;
    let group = town.principal(PrincipalKind::Group, "chat").await;
    for round in 1..=10 {
        town.join(group, town.world.owner).await;
        let leave = town.audited(town.leave(group, town.world.owner));
        let leaves = town.servers.iter().map(|server| server.write(leave.clone(), None));
        let left = join_all(leaves).await.into_iter().filter(Result::is_ok).count();
        assert_eq!((left, town.events().await.len()), (1, round));
    }
    town.assert_chained().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_takes_no_more_than_it_may() {
    let town = Town::new().await;
    let group = town.principal(PrincipalKind::Group, "chat").await;
    let mut guests = Vec::new();
    for n in 0..6 {
        guests.push(town.principal(PrincipalKind::Agent, &n.to_string()).await);
    }
    let filled = limit::MEMBERS_MAX - 2;
    town.as_operator(&format!(
        "insert into loci.membership (workspace_id, group_id, member_id, since)
        select workspace_id, principal_id, gen_random_uuid(), 0
        from loci.principal, generate_series(1, {filled}) where name = 'chat'"
    ))
    .await;
    let joins = guests.iter().enumerate().map(|(n, member)| {
        let joins = Membership { group, member: *member, since: town.world.now() };
        town.servers[n % SERVERS].write(Mutation::AddMember(town.convene(), joins), None)
    });
    let joined = join_all(joins).await;
    assert_eq!(joined.iter().filter(|joined| joined.is_ok()).count(), 2);
    let refused = joined.iter().filter_map(|joined| joined.as_ref().err());
    assert!(refused.clone().all(|error| matches!(error, StorageError::TooMany("members"))));
    let members = town.servers[0].members(&town.convene(), group).await.unwrap();
    assert_eq!(members.len(), limit::MEMBERS_MAX);
}

/// Everything that takes several of the rows that others wait for, at once and on all servers. Two
/// that waited for each other would be broken off, and one of them refused.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_each_other() {
    let town = Town::new().await;
    let owner = town.world.owner;
    let mut stores = vec![town.world.store];
    for _ in 0..3 {
        stores.push(town.world.new_store(StorePolicy::default()).await.id);
    }
    let group = town.principal(PrincipalKind::Group, "chat").await;
    town.join(group, owner).await;
    let mut guests = Vec::new();
    for n in 0..4 {
        let guest = town.principal(PrincipalKind::User, &format!("guest {n}")).await;
        let friend = town.principal(PrincipalKind::User, &format!("friend {n}")).await;
        guests.push((guest, friend));
    }
    let before = town.deadlocks().await;
    for _ in 0..4 {
        for (guest, friend) in &guests {
            town.join(group, *guest).await;
            for store in &stores {
                town.world.write(town.share(*store, *guest, *friend)).await.unwrap();
            }
        }
        let mut writes = Vec::new();
        for (guest, friend) in &guests {
            writes.push(town.audited(town.leave(group, *guest)));
            for store in stores.iter().rev() {
                writes.push(town.audited(town.share(*store, owner, *guest)));
                writes.push(town.audited(town.share(*store, owner, *friend)));
            }
            writes.push(Mutation::Record(town.happening("seen")));
        }
        let sent = writes.into_iter().enumerate().map(|(n, write)| {
            let server = Arc::clone(&town.servers[n % SERVERS]);
            async move {
                let kind = format!("{write:?}");
                server.write(write, None).await.map_err(|error| format!("{error}: {kind}"))
            }
        });
        for done in join_all(sent).await {
            done.unwrap();
        }
    }
    assert_eq!(town.deadlocks().await, before);
    town.assert_chained().await;
}

impl Town {
    /// How often PostgreSQL broke up a circle in this database.
    async fn deadlocks(&self) -> i64 {
        let (client, connection) =
            tokio_postgres::connect(&self.scratch.url(), NoTls).await.unwrap();
        let link = tokio::spawn(connection);
        let sql = "select deadlocks from pg_stat_database where datname = current_database()";
        let deadlocks = client.query_one(sql, &[]).await.unwrap().get(0);
        drop(client);
        link.await.unwrap().unwrap();
        deadlocks
    }
}
