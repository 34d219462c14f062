//! Workspaces, principals and API keys.

use super::fixture::*;
use loci_model::{
    ApiKey, Audience, KeyId, KeyScope, Level, MemorySwitches, Power, Principal, PrincipalId,
    PrincipalKind, Session, SessionId, WorkspaceId,
};
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub(crate) fn plan(world: &World, hash: u8) -> ApiKey {
    ApiKey {
        acts_for_agents: false,
        id: KeyId::from_u128(next_bits()),
        workspace: world.workspace,
        principal: world.owner,
        name: "laptop".into(),
        hint: "loci_abc".into(),
        secret_hash: [hash; 32],
        scope: KeyScope::FULL,
        session: None,
        audience: Audience::Host,
        created_at: world.now(),
        expires_at: None,
        revoked_at: None,
    }
}

pub(crate) async fn make(world: &World, key: ApiKey) -> ApiKey {
    let receipt = world.write(Mutation::CreateKey(key.clone())).await;
    assert_eq!(receipt.unwrap(), Receipt::Key(key.clone()));
    key
}

pub async fn a_new_engine_has_no_workspace(db: Db) {
    assert_eq!(db.default_workspace().await.unwrap(), None);
    let world = World::new(db).await;
    let workspace = world.storage.default_workspace().await.unwrap();
    assert_eq!(workspace, Some(world.workspace));
}

pub async fn principals_are_found_by_id_and_name(db: Db) {
    let world = World::new(db).await;
    let agent = Principal {
        memory: MemorySwitches::default(),
        id: PrincipalId::from_u128(next_bits()),
        workspace: world.workspace,
        kind: PrincipalKind::Agent,
        name: "Agent 7".into(),
        is_admin: true,
        created_at: world.now(),
    };
    let receipt = world.write(Mutation::CreatePrincipal(agent.clone())).await;
    assert_eq!(receipt.unwrap(), Receipt::Principal(agent.clone()));
    let storage = &world.storage;
    assert_eq!(storage.principal(world.workspace, agent.id).await.unwrap(), Some(agent.clone()));
    let named = async |workspace, name| storage.principal_by_name(workspace, name).await.unwrap();
    assert_eq!(named(world.workspace, "Agent 7").await, Some(agent.clone()));
    assert_eq!(named(world.workspace, "agent 7").await, None);
    assert_eq!(named(WorkspaceId::from_u128(next_bits()), "Agent 7").await, None);
    let all = storage.principals(&world.admin_pass()).await.unwrap();
    assert_eq!(all.iter().map(|one| one.id).collect::<Vec<_>>(), [world.owner, agent.id]);
}

pub async fn a_principal_is_found_in_its_own_workspace_only(db: Db) {
    let world = World::new(db).await;
    let elsewhere = WorkspaceId::from_u128(next_bits());
    world.write(Mutation::CreateWorkspace(elsewhere, world.now())).await.unwrap();
    assert_eq!(world.storage.principal(elsewhere, world.owner).await.unwrap(), None);
}

pub async fn a_name_is_taken_once(db: Db) {
    let world = World::new(db).await;
    let mut twin = world.storage.principal(world.workspace, world.owner).await.unwrap().unwrap();
    twin.id = PrincipalId::from_u128(next_bits());
    let result = world.write(Mutation::CreatePrincipal(twin)).await;
    assert_refused!(result, StorageError::Taken(_));
    let all = world.storage.principals(&world.admin_pass()).await.unwrap();
    assert_eq!(all.len(), 1);
}

pub async fn a_key_comes_back_with_its_principal(db: Db) {
    let world = World::new(db).await;
    let mut key = plan(&world, 1);
    key.scope = KeyScope { power: Power::UpTo(Level::Search), stores: Some(vec![world.store]) };
    (key.audience, key.expires_at) = (Audience::Model, Some(world.in_secs(9)));
    key.acts_for_agents = true;
    let key = make(&world, key).await;
    let found = world.storage.key_by_hash(&[1; 32]).await.unwrap();
    let owner = world.storage.principal(world.workspace, world.owner).await.unwrap().unwrap();
    assert_eq!(found, Some((key, owner)));
    assert_eq!(world.storage.key_by_hash(&[2; 32]).await.unwrap(), None);
}

pub async fn switches_are_kept_and_count_at_once(db: Db) {
    let world = World::new(db).await;
    let key = make(&world, plan(&world, 1)).await;
    let known = async || {
        let by_key = world.storage.key_by_hash(&[1; 32]).await.unwrap().unwrap().1;
        let by_name = world.storage.principal_by_name(world.workspace, "owner").await;
        let by_id = world.storage.principal(world.workspace, key.principal).await;
        assert_eq!((by_name.unwrap().unwrap(), by_id.unwrap().unwrap()), (by_key.clone(), by_key));
        world.storage.principals(&world.admin_pass()).await.unwrap()[0].memory
    };
    let all_on = MemorySwitches::default();
    assert_eq!(known().await, all_on);
    for memory in [
        MemorySwitches { is_on: false, ..all_on },
        MemorySwitches { own: false, users: false, ..all_on },
        MemorySwitches { groups: false, ..all_on },
        all_on,
    ] {
        let switch = Mutation::SwitchMemory(world.admin_pass(), world.owner, memory);
        match world.write(switch).await.unwrap() {
            Receipt::Principal(told) => assert_eq!((told.id, told.memory), (world.owner, memory)),
            other => panic!("{other:?}"),
        }
        assert_eq!(known().await, memory);
    }
    let off = MemorySwitches { is_on: false, ..all_on };
    let elsewhere = world.system().administer(world.new_workspace().await, world.now());
    let nobody = PrincipalId::from_u128(next_bits());
    for (pass, id) in [(elsewhere, world.owner), (world.admin_pass(), nobody)] {
        let switch = Mutation::SwitchMemory(pass, id, off);
        assert_refused!(world.write(switch).await, StorageError::NotFound("principal"));
    }
    assert_eq!(known().await, all_on);
}

/// What is asked for before it is made must not stay unknown.
pub async fn a_name_is_found_as_soon_as_it_is_taken(db: Db) {
    let world = World::new(db).await;
    let find = async || world.storage.principal_by_name(world.workspace, "late").await.unwrap();
    assert_eq!(find().await, None);
    let late = world.new_one(PrincipalKind::Group, "late").await;
    let found = find().await.unwrap();
    assert_eq!((found.id, found.kind), (late, PrincipalKind::Group));
}

pub async fn a_hash_is_used_once(db: Db) {
    let world = World::new(db).await;
    make(&world, plan(&world, 1)).await;
    let result = world.write(Mutation::CreateKey(plan(&world, 1))).await;
    assert_refused!(result, StorageError::Taken(_));
}

pub async fn keys_are_listed_oldest_first(db: Db) {
    let world = World::new(db).await;
    let mut made = Vec::new();
    for hash in 1..4 {
        made.push(make(&world, plan(&world, hash)).await);
    }
    assert_eq!(world.storage.keys(&world.admin_pass()).await.unwrap(), made);
    let elsewhere = world.system().administer(WorkspaceId::from_u128(next_bits()), world.now());
    assert!(world.storage.keys(&elsewhere).await.unwrap().is_empty());
}

pub async fn revoking_a_key_happens_once(db: Db) {
    let world = World::new(db).await;
    let key = make(&world, plan(&world, 1)).await;
    let now = world.now();
    let revoke = || Mutation::RevokeKey(world.admin_pass(), key.id);
    let revoked = ApiKey { revoked_at: Some(now), ..key.clone() };
    for _ in 0..2 {
        let receipt = world.write(revoke()).await.unwrap();
        assert_eq!(receipt, Receipt::Key(revoked.clone()));
    }
    let (found, _) = world.storage.key_by_hash(&[1; 32]).await.unwrap().unwrap();
    assert!(!found.is_valid_at(world.now()));
}

pub async fn keys_of_other_workspaces_are_not_revoked(db: Db) {
    let world = World::new(db).await;
    let key = make(&world, plan(&world, 1)).await;
    let elsewhere = world.system().administer(WorkspaceId::from_u128(next_bits()), world.now());
    let result = world.write(Mutation::RevokeKey(elsewhere, key.id)).await;
    assert_refused!(result, StorageError::NotFound(_));
    let nothing = KeyId::from_u128(next_bits());
    let result = world.write(Mutation::RevokeKey(world.admin_pass(), nothing)).await;
    assert_refused!(result, StorageError::NotFound(_));
}

pub async fn keys_of_a_removed_session_open_nothing(db: Db) {
    let world = World::new(db).await;
    let session = Session {
        id: SessionId::from_u128(next_bits()),
        workspace: world.workspace,
        owner: world.owner,
        title: None,
        metadata: Default::default(),
        agent_id: "agent".into(),
        agent_version: 1,
        details: "{}".into(),
        attachments: vec![],
        created_at: world.now(),
        updated_at: world.now(),
        archived_at: None,
    };
    let id = session.id;
    world.write(Mutation::CreateSession(session)).await.unwrap();
    let bound = ApiKey { session: Some(id), ..plan(&world, 1) };
    make(&world, bound).await;
    make(&world, plan(&world, 2)).await;
    world.write(Mutation::RemoveSession(world.workspace, id)).await.unwrap();
    let found = world.storage.key_by_hash(&[1; 32]).await.unwrap();
    assert!(found.is_none_or(|(key, _)| !key.is_valid_at(world.now())));
    assert!(world.storage.key_by_hash(&[2; 32]).await.unwrap().is_some());
}
