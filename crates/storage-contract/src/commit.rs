//! Edits: preconditions, no-ops, the edit kinds, batches, numbers and times.

use super::fixture::*;
use loci_model::decide::Refusal;
use loci_model::edit::Occurrence;
use loci_model::policy;
use loci_model::query::Filter;
use loci_model::store::Who;
use loci_model::{
    Actor, At, Attributes, Audience, Content, Edit, Expect, MemoryId, Operation, PrincipalId,
    StorePolicy, VersionId,
};
use loci_storage::{Mutation, Receipt, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

fn digest_of(text: &str) -> Expect {
    Expect::Digest(Content::Text(text.to_owned()).digest())
}

pub async fn a_created_memory_has_all_its_fields(db: Db) {
    let world = World::new(db).await;
    let now = world.now();
    let batch = batch(vec![put("/a", "hello")]);
    let (id, version) = (batch.edits[0].new_memory, batch.edits[0].version);
    let receipt = world.write(Mutation::Commit(world.write_pass(), batch)).await;
    let outcome = committed(receipt.unwrap()).remove(0);
    assert!(outcome.is_created());
    let memory = outcome.memory;
    assert_eq!((memory.id, memory.head, memory.revision), (id, version, 1));
    assert_eq!((memory.store, memory.owner), (world.store, world.owner));
    assert_eq!((memory.partition, memory.path.as_str()), (None, "/a"));
    assert_eq!((memory.created_at, memory.updated_at), (now, now));
    assert_eq!(memory.digest, Content::Text("hello".into()).digest());
    assert_eq!((memory.size_bytes, memory.is_sealed), (5, false));
    assert_eq!(memory.attributes, Attributes::default());
    assert_eq!(memory.content, None, "outcomes carry no content");
    world.assert_sound().await;
}

pub async fn an_update_keeps_identity_and_moves_the_head(db: Db) {
    let world = World::new(db).await;
    let before = world.put("/a", "one").await;
    let outcome = world.edit(update(before.id, "two")).await.unwrap();
    let after = outcome.memory;
    assert_eq!(outcome.operation, Some(Operation::Modified));
    assert_eq!((after.id, after.revision), (before.id, 2));
    assert_ne!(after.head, before.head);
    assert_eq!(after.created_at, before.created_at);
    assert!(after.updated_at > before.updated_at);
    assert_eq!(world.version(after.head).await.created_at, after.updated_at);
    assert_eq!(world.text_at("/a").await.unwrap(), "two");
}

pub async fn empty_text_is_content(db: Db) {
    let world = World::new(db).await;
    assert_eq!(world.put("/a", "").await.size_bytes, 0);
    assert_eq!(world.text_at("/a").await.unwrap(), "");
    world.assert_sound().await;
}

pub async fn the_same_again_writes_nothing(db: Db) {
    let world = World::new(db).await;
    let before = world.put("/a", "same").await;
    let outcome = world.edit(put("/a", "same")).await.unwrap();
    assert_eq!((outcome.operation, outcome.memory), (None, before));
    assert_eq!(world.feed().await.len(), 1);
}

pub async fn the_same_again_succeeds_whatever_was_expected(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "same").await;
    for expect in [digest_of("other"), Expect::Revision(9)] {
        let outcome = world.edit(expecting(put("/a", "same"), expect)).await;
        assert_eq!(outcome.unwrap().operation, None);
    }
    assert_eq!(world.feed().await.len(), 1);
}

pub async fn the_same_again_is_recorded_when_asked(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "same").await;
    let outcome = world.edit(recording(put("/a", "same"))).await.unwrap();
    assert_eq!(outcome.operation, Some(Operation::Modified));
    assert_eq!(outcome.memory.revision, 2);
    assert_eq!(world.feed().await.len(), 2);
}

pub async fn a_digest_precondition_compares_and_sets(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    let stale = expecting(update(memory.id, "two"), digest_of("zero"));
    assert_refused!(
        world.edit(stale).await,
        StorageError::Refused { index: 0, refusal: Refusal::ExpectFailed }
    );
    assert_eq!(world.text_at("/a").await.unwrap(), "one");
    let fresh = expecting(update(memory.id, "two"), digest_of("one"));
    world.edit(fresh).await.unwrap();
    assert_eq!(world.text_at("/a").await.unwrap(), "two");
}

pub async fn a_revision_precondition_compares_and_sets(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    let at_first = |text| expecting(update(memory.id, text), Expect::Revision(1));
    world.edit(at_first("two")).await.unwrap();
    assert_refused!(
        world.edit(at_first("three")).await,
        StorageError::Refused { refusal: Refusal::ExpectFailed, .. }
    );
}

pub async fn present_refuses_where_nothing_is(db: Db) {
    let world = World::new(db).await;
    for expect in [Expect::Present, digest_of("x"), Expect::Revision(1)] {
        assert_refused!(
            world.edit(expecting(put("/a", "x"), expect)).await,
            StorageError::Refused { refusal: Refusal::NotFound, .. }
        );
    }
    assert!(world.feed().await.is_empty());
}

pub async fn absent_names_what_is_there(db: Db) {
    let world = World::new(db).await;
    let there = world.put("/a", "one").await;
    for text in ["one", "two"] {
        let create = expecting(put("/a", text), Expect::Absent);
        assert_refused!(
            world.edit(create).await,
            StorageError::PathTaken { memory, path: taken }
                if memory == Some(there.id) && taken == path("/a")
        );
    }
}

pub async fn of_many_updates_with_one_precondition_one_wins(db: Db) {
    let world = Arc::new(World::new(db).await);
    let memory = world.put("/a", "start").await;
    let mut racers = Vec::new();
    for racer in 0..64 {
        let world = Arc::clone(&world);
        racers.push(tokio::spawn(async move {
            let text = format!("racer {racer}");
            world.edit(expecting(update(memory.id, &text), digest_of("start"))).await
        }));
    }
    let mut wins = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Ok(_) => wins += 1,
            Err(StorageError::Refused { refusal: Refusal::ExpectFailed, .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(wins, 1);
    assert_eq!(world.get("/a").await.unwrap().revision, 2);
}

pub async fn of_many_creations_at_one_path_one_wins(db: Db) {
    let world = Arc::new(World::new(db).await);
    let mut racers = Vec::new();
    for racer in 0..32 {
        let world = Arc::clone(&world);
        racers.push(tokio::spawn(async move {
            let at = if racer % 2 == 0 { "/a" } else { "/a/b" };
            world.edit(expecting(put(at, "x"), Expect::Absent)).await
        }));
    }
    let mut wins = 0;
    for racer in racers {
        match racer.await.unwrap() {
            Ok(_) => wins += 1,
            Err(StorageError::PathTaken { .. }) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((wins, world.feed().await.len()), (1, 1));
    world.assert_sound().await;
}

pub async fn a_memory_is_created_where_the_edit_sends_it(db: Db) {
    let world = World::new(db).await;
    let op = put_op(Some(Content::Text("x".into())), Some("/to"));
    let at = At::Path(None, path("/at"));
    assert!(world.edit(edit_at(at.clone(), op)).await.unwrap().is_created());
    assert_eq!(world.paths().await, ["/to"]);
    let op = put_op(None, Some("/else"));
    assert_refused!(
        world.edit(edit_at(at, op)).await,
        StorageError::Refused { refusal: Refusal::NotFound, .. }
    );
}

pub async fn an_id_that_names_nothing_creates_nothing(db: Db) {
    let world = World::new(db).await;
    let nobody = At::Id(MemoryId::from_u128(next_bits()));
    let content = Some(Content::Text("x".into()));
    for op in [put_op(content.clone(), None), put_op(content, Some("/a"))] {
        assert_refused!(
            world.edit(edit_at(nobody.clone(), op)).await,
            StorageError::Refused { refusal: Refusal::NotFound, .. }
        );
    }
    assert!(world.paths().await.is_empty());
}

pub async fn a_memory_of_another_store_is_not_found(db: Db) {
    let world = World::new(db).await;
    let other = world.new_store(StorePolicy::default()).await;
    let memory = world.put("/a", "one").await;
    let pass = world.system().write(world.workspace, other.id, world.owner, world.now());
    let result = world.commit_as(pass, vec![update(memory.id, "two")]).await;
    assert_refused!(result, error if not_found(&error));
}

pub async fn an_unknown_store_takes_no_edits(db: Db) {
    let world = World::new(db).await;
    let nowhere = loci_model::StoreId::from_u128(next_bits());
    let pass = world.system().write(world.workspace, nowhere, world.owner, world.now());
    let result = world.commit_as(pass, vec![put("/a", "x")]).await;
    assert_refused!(result, StorageError::NotFound("memory store"));
}

pub async fn append_creates_then_joins(db: Db) {
    let world = World::new(db).await;
    let first = world.edit(append("/log", "one")).await.unwrap();
    assert!(first.is_created());
    let second = world.edit(append("/log", "two")).await.unwrap();
    assert_eq!(second.operation, Some(Operation::Modified));
    assert_eq!(world.text_at("/log").await.unwrap(), "one\ntwo");
}

/// On texts that are kept whole and on those that share what they have in common.
pub async fn an_append_starts_a_line_where_it_is_asked_to(db: Db) {
    let world = World::new(db).await;
    for (name, before) in [("/short", String::from("one")), ("/long", "one ".repeat(1000))] {
        let line = |text: &str| append_line(name, text);
        world.put(name, &before).await;
        world.edit(line("two\n")).await.unwrap();
        world.commit(vec![line("three\n"), line("four")]).await.unwrap();
        world.edit(line("five\n")).await.unwrap();
        let text = world.text_at(name).await.unwrap();
        assert!(text == format!("{before}\ntwo\nthree\nfour\nfive\n"), "{name}");
    }
    world.edit(append_line("/new", "first\n")).await.unwrap();
    assert_eq!(world.text_at("/new").await.unwrap(), "first\n");
    world.assert_sound().await;
}

pub async fn replace_changes_one_occurrence(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "red red blue").await;
    let edit = |old, which| replace("/a", old, "green", which);
    assert_refused!(
        world.edit(edit("red", Occurrence::Only)).await,
        StorageError::Refused { refusal: Refusal::TextAmbiguous { count: 2 }, .. }
    );
    assert_refused!(
        world.edit(edit("black", Occurrence::First)).await,
        StorageError::Refused { refusal: Refusal::TextNotFound, .. }
    );
    world.edit(edit("red", Occurrence::First)).await.unwrap();
    assert_eq!(world.text_at("/a").await.unwrap(), "green red blue");
    assert_refused!(
        world.edit(replace("/b", "x", "y", Occurrence::First)).await,
        StorageError::Refused { refusal: Refusal::NotFound, .. }
    );
}

pub async fn attributes_alone_make_a_version_and_keep_the_content(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "text", of_kind("fact")).await;
    let outcome = world.edit(pin(memory.id)).await.unwrap();
    assert_eq!(outcome.operation, Some(Operation::Modified));
    assert!(outcome.memory.attributes.pinned);
    assert_eq!(outcome.memory.attributes.kind.as_deref(), Some("fact"));
    assert_eq!(outcome.memory.digest, memory.digest);
    assert_eq!(world.text_at("/a").await.unwrap(), "text");
    let version = world.version(outcome.memory.head).await;
    assert_eq!(version.content, Some(Content::Text("text".into())));
    assert_eq!(version.attributes, Some(outcome.memory.attributes));
}

pub async fn every_attribute_comes_back(db: Db) {
    let world = World::new(db).await;
    let attributes = Attributes {
        kind: Some("fact".into()),
        tags: vec!["b".into(), "a \"quoted\"".into()],
        importance: Some(0),
        pinned: true,
        visibility: loci_model::Visibility::Quarantine,
        expires_at: Some(world.in_secs(1000)),
        source: Some("crm".into()),
        scope: Some("team".into()),
        summary: Some("one line".into()),
        media_type: Some("text/x".into()),
        metadata: Some("{\"a\":1}".into()),
    };
    let memory = world.put_with("/a", "text", attributes.clone()).await;
    assert_eq!(memory.attributes, attributes);
    assert_eq!(world.get("/a").await.unwrap().attributes, attributes);
    let version = world.version(memory.head).await;
    assert_eq!(version.attributes, Some(attributes));
}

pub async fn a_broken_attribute_is_refused(db: Db) {
    let world = World::new(db).await;
    let edit = with_attributes(put("/a", "x"), of_kind("two words"));
    assert_refused!(
        world.edit(edit).await,
        StorageError::Refused { refusal: Refusal::Invalid(_), .. }
    );
}

pub async fn content_is_bounded_by_the_store(db: Db) {
    let policy = StorePolicy { content_bytes_max: 4, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    world.put("/a", "four").await;
    assert_refused!(
        world.edit(append("/a", "x")).await,
        StorageError::Refused { refusal: Refusal::TooLarge { bytes: 6, limit: 4 }, .. }
    );
}

pub async fn first_means_the_oldest_that_matches(db: Db) {
    let world = World::new(db).await;
    world.put_with("/z", "old", of_kind("fact")).await;
    world.put_with("/a", "new", of_kind("fact")).await;
    let facts = Filter { kind: Some("fact".into()), ..Filter::default() };
    let op = put_op(Some(Content::Text("changed".into())), None);
    world.edit(edit_at(At::First(facts), op)).await.unwrap();
    assert_eq!(world.text_at("/z").await.unwrap(), "changed");
    assert_eq!(world.text_at("/a").await.unwrap(), "new");
}

pub async fn first_creates_where_told_when_nothing_matches(db: Db) {
    let world = World::new(db).await;
    world.put("/other", "x").await;
    let at = || At::First(Filter { kind: Some("fact".into()), ..Filter::default() });
    let content = Some(Content::Text("new".into()));
    let created = world.edit(edit_at(at(), put_op(content.clone(), Some("/made")))).await;
    assert!(created.unwrap().is_created());
    assert_refused!(
        world.edit(edit_at(at(), put_op(content, None))).await,
        StorageError::Refused { refusal: Refusal::NotFound, .. }
    );
}

pub async fn remove_hides_the_memory_and_frees_the_path(db: Db) {
    let world = World::new(db).await;
    let first = world.put("/a", "one").await;
    let outcome = world.edit(remove("/a")).await.unwrap();
    assert_eq!(outcome.operation, Some(Operation::Deleted));
    assert_eq!(outcome.memory, first, "as it was just before");
    assert_eq!(world.get("/a").await, None);
    assert_refused!(world.edit(remove("/a")).await, error if not_found(&error));
    let second = world.put("/a", "two").await;
    assert_ne!(second.id, first.id);
    assert_eq!(second.revision, 1);
    world.assert_sound().await;
}

pub async fn a_deleted_version_keeps_the_path_and_nothing_else(db: Db) {
    let world = World::new(db).await;
    let memory = world.put_with("/a", "one", of_kind("fact")).await;
    world.edit(remove("/a")).await.unwrap();
    let deleted = world.history().await.pop().unwrap();
    assert_eq!((deleted.operation, deleted.revision), (Operation::Deleted, 2));
    assert_eq!((deleted.memory, deleted.path), (memory.id, Some(path("/a"))));
    assert_eq!(deleted.attributes, Some(of_kind("fact")));
    assert_eq!((deleted.content, deleted.digest, deleted.size_bytes), (None, None, None));
}

pub async fn remove_obeys_its_precondition(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "one").await;
    let guarded = |text| Edit::remove(At::Id(memory.id), digest_of(text));
    assert_refused!(
        world.edit(guarded("two")).await,
        StorageError::Refused { refusal: Refusal::ExpectFailed, .. }
    );
    world.edit(guarded("one")).await.unwrap();
    assert!(world.paths().await.is_empty());
}

pub async fn only_the_owner_removes_where_the_store_says_so(db: Db) {
    let policy = StorePolicy { remove: Who::Owner, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let guest = world.new_principal("guest").await;
    super::grant::share(&world, guest, loci_model::Level::ReadWrite).await;
    let guest_pass = async || {
        let caller = world.caller(guest, Audience::Host);
        policy::write(&caller, &world.facts(guest).await, world.now()).unwrap()
    };
    world.put("/owners", "x").await;
    world.commit_as(guest_pass().await, vec![put("/guests", "x")]).await.unwrap();
    assert_refused!(
        world.commit_as(guest_pass().await, vec![remove("/owners")]).await,
        StorageError::Refused { refusal: Refusal::NotOwner, .. }
    );
    world.commit_as(guest_pass().await, vec![remove("/guests")]).await.unwrap();
}

pub async fn only_the_owner_moves_where_only_the_owner_removes(db: Db) {
    let policy = StorePolicy { remove: Who::Owner, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let guest = world.new_principal("guest").await;
    super::grant::share(&world, guest, loci_model::Level::ReadWrite).await;
    let as_guest = async |edit| {
        let caller = world.caller(guest, Audience::Host);
        let pass = policy::write(&caller, &world.facts(guest).await, world.now()).unwrap();
        world.commit_as(pass, vec![edit]).await
    };
    let owners = world.put("/owners", "x").await;
    let guests = as_guest(put("/guests", "x")).await.unwrap()[0].memory.id;
    assert_refused!(
        as_guest(rename(owners.id, "/taken")).await,
        StorageError::Refused { refusal: Refusal::NotOwner, .. }
    );
    as_guest(update(owners.id, "changed")).await.unwrap();
    as_guest(rename(owners.id, "/owners")).await.unwrap();
    as_guest(rename(guests, "/moved")).await.unwrap();
    world.edit(rename(guests, "/by-owner")).await.unwrap();
    assert_eq!(world.paths().await, ["/by-owner", "/owners"]);
    assert_eq!(world.text_at("/owners").await.unwrap(), "changed");
}

pub async fn versions_name_their_actor_and_cause(db: Db) {
    let world = World::new(db).await;
    let pass = world.model_write_pass().await;
    let source = world.put("/source", "x").await.head;
    let mut batch = batch(vec![put("/a", "x")]);
    batch.cause.derived_from = vec![source, VersionId::from_u128(7)];
    let cause = batch.cause.clone();
    world.write(Mutation::Commit(pass.clone(), batch)).await.unwrap();
    let version = world.history().await.pop().unwrap();
    assert_eq!(version.actor, pass.actor());
    assert_ne!(version.actor, Actor::System);
    assert_eq!(version.cause, cause);
}

pub async fn a_removal_is_made_from_nothing(db: Db) {
    let world = World::new(db).await;
    let source = world.put("/source", "x").await;
    let mut batch = batch(vec![put("/summary", "x, in short"), remove("/source")]);
    batch.cause.derived_from = vec![source.head];
    world.write(Mutation::Commit(world.write_pass(), batch)).await.unwrap();
    let history = world.history().await;
    let sources = |op| {
        let mut found = history.iter().filter(|version| version.operation == op);
        found.next_back().unwrap().cause.derived_from.clone()
    };
    assert_eq!(sources(Operation::Deleted), []);
    let summary =
        history.iter().find(|one| one.path.as_ref().is_some_and(|p| p.as_str() == "/summary"));
    assert_eq!(summary.unwrap().cause.derived_from, [source.head]);
}

pub async fn the_creator_owns_the_memory(db: Db) {
    let world = World::new(db).await;
    let somebody = world.new_principal("somebody").await;
    let pass = world.system().write(world.workspace, world.store, somebody, world.now());
    let outcomes = world.commit_as(pass, vec![put("/a", "x")]).await.unwrap();
    assert_eq!(outcomes[0].memory.owner, somebody);
    let updated = world.edit(update(outcomes[0].memory.id, "y")).await.unwrap();
    assert_eq!(updated.memory.owner, somebody, "an update changes no owner");
}

pub async fn a_batch_applies_in_order_each_seeing_the_last(db: Db) {
    let world = World::new(db).await;
    let edits = vec![put("/a", "one"), append("/a", "two"), remove("/a"), put("/a/b", "three")];
    let outcomes = world.commit(edits).await.unwrap();
    let operations: Vec<_> = outcomes.iter().map(|outcome| outcome.operation.unwrap()).collect();
    use Operation::{Created, Deleted, Modified};
    assert_eq!(operations, [Created, Modified, Deleted, Created]);
    assert_eq!(world.paths().await, ["/a/b"]);
    world.assert_sound().await;
}

pub async fn a_failing_edit_undoes_the_whole_batch(db: Db) {
    let world = World::new(db).await;
    let kept = world.put("/kept", "before").await;
    let edits =
        vec![put("/new", "x"), put("/kept", "after"), remove("/nothing"), put("/later", "x")];
    assert_refused!(
        world.commit(edits).await,
        StorageError::Refused { index: 2, refusal: Refusal::NotFound }
    );
    assert_eq!(world.paths().await, ["/kept"]);
    assert_eq!(world.get("/kept").await.unwrap().head, kept.head);
    assert_eq!(world.text_at("/kept").await.unwrap(), "before");
    assert_eq!(world.feed().await.len(), 1);
    assert!(world.find(&["after", "x"]).await.is_empty());
    world.assert_sound().await;
}

pub async fn an_empty_batch_does_nothing(db: Db) {
    let world = World::new(db).await;
    let receipt = world.write(Mutation::Commit(world.write_pass(), batch(vec![]))).await;
    assert_eq!(receipt.unwrap(), Receipt::Committed(vec![]));
}

pub async fn revisions_have_no_gaps(db: Db) {
    let world = World::new(db).await;
    for text in ["one", "one", "two", "two", "three"] {
        world.put("/a", text).await;
    }
    let revisions: Vec<u64> = world.history().await.iter().map(|v| v.revision).collect();
    assert_eq!(revisions, [1, 2, 3]);
}

pub async fn a_full_store_takes_updates_but_nothing_new(db: Db) {
    let policy = StorePolicy { memories_max: 2, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    world.put("/a", "x").await;
    world.put("/b", "x").await;
    assert_refused!(world.edit(put("/c", "x")).await, StorageError::StoreFull { limit: 2 });
    world.put("/a", "y").await;
    world.edit(remove("/b")).await.unwrap();
    world.put("/c", "x").await;
}

pub async fn a_taken_path_is_told_before_a_full_store(db: Db) {
    let policy = StorePolicy { memories_max: 1, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    world.put("/a", "x").await;
    let below = expecting(put("/a/b", "x"), Expect::Absent);
    assert_refused!(world.edit(below).await, StorageError::PathTaken { .. });
}

pub async fn partitions_keep_equal_paths_apart(db: Db) {
    let world = World::new(db).await;
    let (one, two) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
    let edits = vec![put("/a", "none"), put_in(one, "/a", "1"), put_in(two, "/a/b", "2")];
    let outcomes = world.commit(edits).await.unwrap();
    assert!(outcomes.iter().all(loci_model::Outcome::is_created));
    assert_eq!(outcomes[1].memory.partition, Some(one));
    assert_eq!(world.text_at("/a").await.unwrap(), "none");
    assert_refused!(
        world.edit(put_in(two, "/a", "x")).await,
        StorageError::PathTaken { memory, .. } if memory == Some(outcomes[2].memory.id)
    );
    let moved = world.edit(rename(outcomes[1].memory.id, "/b")).await.unwrap();
    assert_eq!(moved.memory.partition, Some(one), "a move stays in its partition");
    world.assert_sound().await;
}

pub async fn versions_copied_ids_are_the_stamped_ones(db: Db) {
    let world = World::new(db).await;
    let batch = batch(vec![put("/a", "x"), put("/a", "y")]);
    let stamped: Vec<_> = batch.edits.iter().map(|edit| edit.version).collect();
    let memory = batch.edits[0].new_memory;
    world.write(Mutation::Commit(world.write_pass(), batch)).await.unwrap();
    let history = world.history().await;
    assert_eq!(history.iter().map(|v| v.id).collect::<Vec<_>>(), stamped);
    assert!(history.iter().all(|version| version.memory == memory));
}
