//! What a server keeps in memory about access is never older than what any other server answered:
//! after each kind of write that is about access, but imports, a server that had looked before sees the
//! same as one that looks for the first time. And it is kept, or there would be nothing to show here.

use crate::database::Scratch;
use loci_model::policy::Facts;
use loci_model::session::Attachment;
use loci_model::store::Repeats;
use loci_model::{
    Access, Actor, Address, ApiKey, Audience, Grant, GrantId, Grantee, Happening, KeyId, KeyScope,
    Level, Membership, MemorySwitches, Principal, PrincipalId, PrincipalKind, Session, SessionId,
    Store, StoreId, StorePatch, StorePolicy, event,
};
use loci_storage::request::as_one_request;
use loci_storage::{Mutation, SessionChange, Storage};
use loci_storage_contract::fixture::{World, next_bits};
use loci_storage_postgres::PostgresStorage;
use std::sync::Arc;
use tokio_postgres::NoTls;

const HASH: [u8; 32] = [7; 32];
const SERVICE_HASH: [u8; 32] = [8; 32];

/// Whom and what the writes of these tests concern.
struct Concerned {
    guest: PrincipalId,
    /// Gets from the guest what the guest may give only as a companion.
    friend: PrincipalId,
    /// A group that the owner is in.
    group: PrincipalId,
    key: ApiKey,
    service_key: ApiKey,
    session: Session,
    grant: Grant,
    /// The guest's own, at an address.
    home: Store,
}

impl Concerned {
    async fn by(world: &World) -> Self {
        let guest = world.new_one(PrincipalKind::Agent, "guest").await;
        let friend = world.new_principal("friend").await;
        let group = Principal {
            id: PrincipalId::from_u128(next_bits()),
            workspace: world.workspace,
            kind: PrincipalKind::Group,
            name: "chat".into(),
            is_admin: false,
            memory: MemorySwitches::default(),
            created_at: world.now(),
        };
        let group_id = group.id;
        world.write(Mutation::CreatePrincipal(group)).await.unwrap();
        let joins = Membership { group: group_id, member: world.owner, since: world.now() };
        world.write(Mutation::AddMember(convene(world), joins)).await.unwrap();
        let key = ApiKey {
            id: KeyId::from_u128(next_bits()),
            workspace: world.workspace,
            principal: guest,
            name: "laptop".into(),
            hint: "loci_abc".into(),
            secret_hash: HASH,
            scope: KeyScope::FULL,
            session: None,
            audience: Audience::Host,
            acts_for_agents: false,
            created_at: world.now(),
            expires_at: None,
            revoked_at: None,
        };
        let attachment = Attachment {
            store: world.store,
            access: Access::ReadWrite,
            instructions: None,
            name: "notes".into(),
            description: String::new(),
            mount_path: "/notes".into(),
        };
        let session = Session {
            id: SessionId::from_u128(next_bits()),
            workspace: world.workspace,
            owner: guest,
            title: None,
            metadata: [].into(),
            agent_id: "agent".into(),
            agent_version: 1,
            details: "{}".into(),
            attachments: vec![attachment],
            created_at: world.now(),
            updated_at: world.now(),
            archived_at: None,
        };
        let grant = Grant {
            id: GrantId::from_u128(next_bits()),
            store: world.store,
            grantee: Grantee::Principal(guest),
            level: Level::Read,
            given_by: world.owner,
            expires_at: None,
            created_at: world.now(),
        };
        let service_key = ApiKey {
            id: KeyId::from_u128(next_bits()),
            secret_hash: SERVICE_HASH,
            acts_for_agents: true,
            ..key.clone()
        };
        let address = Some(Address::home(guest));
        let home = Store { owner: guest, address, ..world.plan_store(StorePolicy::default()) };
        Self { guest, friend, group: group_id, key, service_key, session, grant, home }
    }

    /// One of each kind of write that is about access, but imports, in an order in which they go through.
    fn writes(&self, world: &World) -> Vec<Mutation> {
        let session = |change| Mutation::ChangeSession {
            workspace: world.workspace,
            session: self.session.id,
            change,
            now: world.now(),
        };
        let described = StorePatch { name: Some("another name".into()), ..StorePatch::default() };
        let joins = Membership { group: self.group, member: self.guest, since: world.now() };
        let given = Grant {
            id: GrantId::from_u128(next_bits()),
            grantee: Grantee::Principal(self.friend),
            given_by: self.guest,
            ..self.grant.clone()
        };
        let switched = MemorySwitches { groups: false, ..MemorySwitches::default() };
        let leave =
            Mutation::RemoveMember { pass: convene(world), group: self.group, member: self.guest };
        let audited = |mutation| Mutation::Audited(Box::new(mutation), happening(world));
        let home = world.system().manage(world.workspace, self.home.id, world.now());
        vec![
            Mutation::AddMember(convene(world), joins),
            Mutation::Share(world.share_pass(), given),
            audited(leave),
            Mutation::CreateStore(self.home.clone()),
            Mutation::RemoveStore(home),
            Mutation::CreateKey(self.key.clone()),
            audited(Mutation::SwitchMemory(world.admin_pass(), self.guest, switched)),
            audited(Mutation::CreateKey(self.service_key.clone())),
            Mutation::Share(world.share_pass(), self.grant.clone()),
            Mutation::Share(
                world.share_pass(),
                Grant { level: Level::ReadWrite, ..self.grant.clone() },
            ),
            Mutation::CreateSession(self.session.clone()),
            Mutation::DescribeStore(world.manage_pass(), described),
            Mutation::SetPolicy(world.manage_pass(), Repeats::Refuse.into()),
            Mutation::CreateStore(world.plan_store(StorePolicy::default())),
            session(SessionChange::Archive),
            Mutation::RemoveSession(world.workspace, self.session.id),
            Mutation::Revoke(world.share_pass(), self.grant.id),
            Mutation::ArchiveStore(world.manage_pass()),
            Mutation::RevokeKey(world.admin_pass(), self.key.id),
            Mutation::RemoveStore(world.manage_pass()),
            Mutation::PurgeStore { pass: world.manage_pass(), limit: 100 },
        ]
    }
}

fn convene(world: &World) -> loci_model::policy::ConvenePass {
    world.system().convene(world.workspace, world.now())
}

fn happening(world: &World) -> Happening {
    Happening {
        workspace: world.workspace,
        at: world.now(),
        actor: Actor::System,
        principal: world.owner,
        kind: event::kind::MEMBER_REMOVED,
        store: None,
        subject: None,
        detail: None,
    }
}

/// All that a server keeps, as it tells it.
type Told = (
    [Option<(ApiKey, Principal)>; 2],
    [Option<Facts>; 4],
    [Vec<Facts>; 4],
    Option<StoreId>,
    Option<Principal>,
);

async fn ask(server: &dyn Storage, world: &World, who: &Concerned) -> Told {
    let facts = |principal, session| server.facts(world.workspace, world.store, principal, session);
    let own = world.caller(world.owner, Audience::Host);
    let guests = world.caller(who.guest, Audience::Host);
    let friends = world.caller(who.friend, Audience::Host);
    let in_session = loci_model::Caller { session: Some(who.session.id), ..guests.clone() };
    (
        [
            server.key_by_hash(&HASH).await.unwrap(),
            server.key_by_hash(&SERVICE_HASH).await.unwrap(),
        ],
        [
            facts(world.owner, None).await.unwrap(),
            facts(who.guest, None).await.unwrap(),
            facts(who.guest, Some(who.session.id)).await.unwrap(),
            facts(who.friend, None).await.unwrap(),
        ],
        [
            server.all_facts(&own).await.unwrap().to_vec(),
            server.all_facts(&guests).await.unwrap().to_vec(),
            server.all_facts(&in_session).await.unwrap().to_vec(),
            server.all_facts(&friends).await.unwrap().to_vec(),
        ],
        server.store_at(world.workspace, &Address::home(who.guest)).await.unwrap(),
        server.principal_by_name(world.workspace, "guest").await.unwrap(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_changed_is_so_on_every_other() {
    let scratch = Scratch::new().await;
    let world = World::new(Arc::new(scratch.open().await)).await;
    let second = scratch.open().await;
    let who = Concerned::by(&world).await;
    for mutation in who.writes(&world) {
        let before = ask(&second, &world, &who).await;
        let kind = format!("{mutation:?}");
        world.write(mutation).await.unwrap();
        let third = scratch.open().await;
        let now = ask(&third, &world, &who).await;
        assert_eq!(ask(&second, &world, &who).await, now, "after {kind}");
        assert_eq!(ask(&*world.storage, &world, &who).await, now, "after {kind}");
        let is_felt = !kind.starts_with("PurgeStore") && !kind.starts_with("RemoveSession");
        assert_eq!(before != now, is_felt, "{kind}");
    }
}

/// Changes the name of a store behind the back of all servers.
async fn rename(scratch: &Scratch, name: &str) {
    let (client, connection) = tokio_postgres::connect(&scratch.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.execute("update loci.store set name = $1", &[&name]).await.unwrap();
}

async fn name(server: &PostgresStorage, world: &World) -> String {
    let facts = server.facts(world.workspace, world.store, world.owner, None).await;
    facts.unwrap().unwrap().store.name
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_is_kept_until_the_page_is_turned() {
    let scratch = Scratch::new().await;
    let world = World::new(Arc::new(scratch.open().await)).await;
    let server = scratch.open().await;
    let known = name(&server, &world).await;
    rename(&scratch, "renamed").await;
    assert_eq!(name(&server, &world).await, known);
    world.new_principal("turns the page").await;
    assert_eq!(name(&server, &world).await, "renamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_wrote_looks_again() {
    let scratch = Scratch::new().await;
    let server = Arc::new(scratch.open().await);
    let world = World::new(server.clone()).await;
    as_one_request(async {
        name(&server, &world).await;
        rename(&scratch, "renamed").await;
        let patch = StorePatch { description: Some("new".into()), ..StorePatch::default() };
        world.write(Mutation::DescribeStore(world.manage_pass(), patch)).await.unwrap();
        assert_eq!(name(&server, &world).await, "renamed");
    })
    .await;
}
