//! What a server keeps in memory about access is never older than what any other server answered:
//! after each kind of write that is about access, but imports, a server that had looked before sees the
//! same as one that looks for the first time. And it is kept, or there would be nothing to show here.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod database;

use database::Scratch;
use loci_model::policy::Facts;
use loci_model::session::Attachment;
use loci_model::store::Repeats;
use loci_model::{
    Access, ApiKey, Audience, Grant, GrantId, Grantee, KeyId, KeyScope, Level, Principal,
    PrincipalId, Session, SessionId, StorePatch, StorePolicy,
};
use loci_storage::contract::fixture::{World, next_bits};
use loci_storage::request::as_one_request;
use loci_storage::{Mutation, SessionChange, Storage};
use loci_storage_postgres::PostgresStorage;
use std::sync::Arc;
use tokio_postgres::NoTls;

const HASH: [u8; 32] = [7; 32];

/// Whom and what the writes of these tests concern.
struct Concerned {
    guest: PrincipalId,
    key: ApiKey,
    session: Session,
    grant: Grant,
}

impl Concerned {
    async fn by(world: &World) -> Self {
        let guest = world.new_principal("guest").await;
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
        Self { guest, key, session, grant }
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
        vec![
            Mutation::CreateKey(self.key.clone()),
            Mutation::Share(world.share_pass(), self.grant.clone()),
            Mutation::Share(
                world.share_pass(),
                Grant { level: Level::ReadWrite, ..self.grant.clone() },
            ),
            Mutation::CreateSession(self.session.clone()),
            Mutation::DescribeStore(world.manage_pass(), described),
            Mutation::SetRepeats(world.manage_pass(), Repeats::Refuse),
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

/// All that a server keeps, as it tells it.
type Told = (Option<(ApiKey, Principal)>, [Option<Facts>; 3], [Vec<Facts>; 3]);

async fn ask(server: &dyn Storage, world: &World, who: &Concerned) -> Told {
    let facts = |principal, session| server.facts(world.workspace, world.store, principal, session);
    let own = world.caller(world.owner, Audience::Host);
    let guests = world.caller(who.guest, Audience::Host);
    let in_session = loci_model::Caller { session: Some(who.session.id), ..guests.clone() };
    (
        server.key_by_hash(&HASH).await.unwrap(),
        [
            facts(world.owner, None).await.unwrap(),
            facts(who.guest, None).await.unwrap(),
            facts(who.guest, Some(who.session.id)).await.unwrap(),
        ],
        [
            server.all_facts(&own).await.unwrap().to_vec(),
            server.all_facts(&guests).await.unwrap().to_vec(),
            server.all_facts(&in_session).await.unwrap().to_vec(),
        ],
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
