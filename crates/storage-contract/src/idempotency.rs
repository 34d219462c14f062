//! Idempotency keys: a repeated request has one effect and one answer.

use super::fixture::*;
use loci_model::event::kind;
use loci_model::{Membership, MemorySwitches, PrincipalKind, StorePolicy};
use loci_storage::{Applied, Idempotency, Mutation, Receipt, Result, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn write(world: &World, mutation: Mutation, key: Idempotency) -> Result<Applied> {
    let applied = world.storage.write(mutation, Some(key)).await;
    world.move_clock(1);
    applied
}

fn commit(world: &World, edit: loci_model::Edit) -> Mutation {
    Mutation::Commit(world.write_pass(), batch(vec![edit]))
}

pub async fn a_repeated_write_has_one_effect(db: Db) {
    let world = World::new(db).await;
    let key = || idempotency(world.workspace, 1, "k", 1, world.now());
    let first = write(&world, commit(&world, put("/a", "x")), key()).await.unwrap();
    assert!(!first.is_replay);
    let again = write(&world, commit(&world, put("/a", "x")), key()).await.unwrap();
    assert!(again.is_replay);
    assert_eq!(again.receipt, first.receipt);
    assert_eq!(world.feed().await.len(), 1);
}

pub async fn a_replay_tells_what_was_done_then(db: Db) {
    let world = World::new(db).await;
    let key = || idempotency(world.workspace, 1, "k", 1, world.now());
    world.put_with("/a", "zero", of_kind("fact")).await;
    let edits = || vec![put("/a", "one"), put("/b", "new"), put("/a", "one"), remove("/b")];
    let mutation = || Mutation::Commit(world.write_pass(), batch(edits()));
    let first = write(&world, mutation(), key()).await.unwrap();
    world.put("/a", "two").await;
    world.edit(remove("/a")).await.unwrap();
    let again = write(&world, mutation(), key()).await.unwrap();
    assert!(again.is_replay);
    assert_eq!(again.receipt, first.receipt);
    assert!(world.paths().await.is_empty());
}

pub async fn a_replay_does_not_bring_back_what_was_redacted(db: Db) {
    let world = World::new(db).await;
    let key = || idempotency(world.workspace, 1, "k", 1, world.now());
    let first = write(&world, commit(&world, put("/secret", "x")), key()).await.unwrap();
    let id = committed(first.receipt)[0].memory.id;
    super::redact::erase(&world, id).await.unwrap();
    let again = write(&world, commit(&world, put("/secret", "x")), key()).await;
    assert_refused!(again, StorageError::NotFound(_));
    assert_refused!(world.storage.recall(&key()).await, StorageError::NotFound(_));
    assert!(world.paths().await.is_empty());
}

pub async fn a_key_used_for_another_request_is_refused(db: Db) {
    let world = World::new(db).await;
    let key = |request| idempotency(world.workspace, 1, "k", request, world.now());
    write(&world, commit(&world, put("/a", "x")), key(1)).await.unwrap();
    let other = write(&world, commit(&world, put("/b", "x")), key(2)).await;
    assert_refused!(other, StorageError::KeyReused);
    assert_refused!(world.storage.recall(&key(2)).await, StorageError::KeyReused);
    assert_eq!(world.paths().await, ["/a"]);
}

pub async fn keys_of_different_principals_do_not_meet(db: Db) {
    let world = World::new(db).await;
    let key = |scope| idempotency(world.workspace, scope, "k", 1, world.now());
    write(&world, commit(&world, put("/a", "x")), key(1)).await.unwrap();
    let other = write(&world, commit(&world, put("/b", "x")), key(2)).await.unwrap();
    assert!(!other.is_replay);
    assert_eq!(world.paths().await, ["/a", "/b"]);
}

pub async fn a_refused_write_leaves_its_key_free(db: Db) {
    let world = World::new(db).await;
    let key = || idempotency(world.workspace, 1, "k", 1, world.now());
    write(&world, commit(&world, remove("/a")), key()).await.unwrap_err();
    assert_eq!(world.storage.recall(&key()).await.unwrap(), None);
    world.put("/a", "x").await;
    let second = write(&world, commit(&world, remove("/a")), key()).await.unwrap();
    assert!(!second.is_replay);
}

pub async fn a_key_is_recalled_before_anything_is_asked(db: Db) {
    let world = World::new(db).await;
    let key = idempotency(world.workspace, 1, "k", 1, world.now());
    assert_eq!(world.storage.recall(&key).await.unwrap(), None);
    let removal = Mutation::RemoveStore(world.manage_pass());
    let done = write(&world, removal, key.clone()).await.unwrap();
    assert_eq!(done.receipt, Receipt::StoreRemoved(world.store));
    let recalled = world.storage.recall(&key).await.unwrap();
    assert_eq!(recalled, Some(done.receipt));
}

pub async fn every_kind_of_write_can_be_repeated(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "one").await;
    world.put("/a", "two").await;
    let version = loci_model::VersionId::from_u128(next_bits());
    let group = world.new_one(PrincipalKind::Group, "room").await;
    let member = world.new_principal("guest").await;
    let off = MemorySwitches { own: false, ..MemorySwitches::default() };
    let inside = Membership { group, member, since: world.now() };
    let mutations = || {
        vec![
            Mutation::AddMember(world.convene_pass(), inside),
            Mutation::RemoveMember { pass: world.convene_pass(), group, member },
            Mutation::SwitchMemory(world.admin_pass(), member, off),
            Mutation::Record(world.happening(kind::SEARCHED)),
            Mutation::Redact(world.manage_pass(), first.head),
            Mutation::Erase { pass: world.manage_pass(), memory: first.id, version },
            Mutation::ArchiveStore(world.manage_pass()),
        ]
    };
    let store = world.plan_store(StorePolicy::default());
    let mut all = mutations();
    all.push(Mutation::CreateStore(store.clone()));
    let mut repeated = mutations();
    repeated.push(Mutation::CreateStore(store));
    for (number, (once, again)) in all.into_iter().zip(repeated).enumerate() {
        let key = idempotency(world.workspace, 1, &format!("k{number}"), 1, world.now());
        let once = write(&world, once, key.clone()).await.unwrap();
        let feed = world.feed().await.len();
        let again = write(&world, again, key).await.unwrap();
        assert_eq!((once.is_replay, again.is_replay), (false, true));
        assert_eq!(again.receipt, once.receipt);
        assert_eq!(world.feed().await.len(), feed);
    }
    assert_eq!(world.events().await.len(), 1, "what was recorded is not recorded again");
}

pub async fn old_keys_are_forgotten(db: Db) {
    let world = World::new(db).await;
    let first = idempotency(world.workspace, 1, "first", 1, world.now());
    write(&world, commit(&world, put("/a", "x")), first.clone()).await.unwrap();
    let second = idempotency(world.workspace, 1, "second", 1, world.now());
    write(&world, commit(&world, put("/b", "x")), second.clone()).await.unwrap();
    let forget = Mutation::ForgetKeys { before: second.now };
    assert_eq!(world.write(forget).await.unwrap(), Receipt::KeysForgotten(1));
    assert_eq!(world.storage.recall(&first).await.unwrap(), None);
    assert!(world.storage.recall(&second).await.unwrap().is_some());
}
