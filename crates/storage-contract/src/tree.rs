//! Paths: one memory for each, none above or below another, and renames.

use super::fixture::*;
use loci_model::{Content, Expect, MemoryId, Operation};
use loci_storage::{Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

async fn assert_blocked(world: &World, edit: loci_model::Edit, by: MemoryId, at: &str) {
    assert_refused!(
        world.edit(edit).await,
        StorageError::PathTaken { memory, path: taken } if memory == Some(by) && taken == path(at)
    );
}

pub async fn nothing_is_created_below_a_memory(db: Db) {
    let world = World::new(db).await;
    let above = world.put("/a/b", "x").await;
    for below in ["/a/b/c", "/a/b/c/d"] {
        assert_blocked(&world, put(below, "x"), above.id, "/a/b").await;
    }
}

pub async fn nothing_is_created_above_a_memory(db: Db) {
    let world = World::new(db).await;
    let below = world.put("/a/b/c", "x").await;
    for above in ["/a", "/a/b"] {
        assert_blocked(&world, put(above, "x"), below.id, "/a/b/c").await;
    }
}

pub async fn names_that_only_begin_alike_do_not_conflict(db: Db) {
    let world = World::new(db).await;
    let paths = ["/a", "/a b", "/a-b", "/a.b", "/a0", "/ab", "/b/a", "/é", "/😀"];
    for path in paths {
        world.put(path, "x").await;
    }
    assert_eq!(world.paths().await, paths);
}

pub async fn a_rename_keeps_the_memory_and_its_content(db: Db) {
    let world = World::new(db).await;
    let before = world.put_with("/a", "text", of_kind("fact")).await;
    let outcome = world.edit(rename(before.id, "/b/c")).await.unwrap();
    assert_eq!(outcome.operation, Some(Operation::Modified));
    let after = outcome.memory;
    assert_eq!((after.id, after.revision), (before.id, 2));
    assert_eq!((after.digest, &after.attributes), (before.digest, &before.attributes));
    assert_eq!(world.get("/a").await, None);
    assert_eq!(world.text_at("/b/c").await.unwrap(), "text");
    let version = world.version(after.head).await;
    assert_eq!(version.path, Some(path("/b/c")));
    assert_eq!(version.content, Some(Content::Text("text".into())));
    world.put("/a", "again").await;
    world.assert_sound().await;
}

pub async fn a_rename_and_new_content_are_one_version(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "old").await;
    let op = put_op(Some(Content::Text("new".into())), Some("/b"));
    world.edit(edit_at(loci_model::At::Id(memory.id), op)).await.unwrap();
    assert_eq!(world.history().await.len(), 2);
    assert_eq!(world.text_at("/b").await.unwrap(), "new");
}

pub async fn a_rename_onto_a_taken_path_changes_nothing(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    let other = world.put("/b/c", "y").await;
    for (to, at) in [("/b/c", "/b/c"), ("/b", "/b/c"), ("/b/c/d", "/b/c")] {
        let op = put_op(Some(Content::Text("new".into())), Some(to));
        let edit = edit_at(loci_model::At::Id(memory.id), op);
        assert_blocked(&world, edit, other.id, at).await;
    }
    assert_eq!(world.text_at("/a").await.unwrap(), "x");
    assert_eq!(world.feed().await.len(), 2);
}

pub async fn a_memory_may_move_below_or_above_itself(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    for to in ["/a/b", "/a/b/c", "/a"] {
        let moved = world.edit(rename(memory.id, to)).await.unwrap();
        assert_eq!(moved.memory.path, path(to));
    }
    assert_eq!(world.paths().await, ["/a"]);
    world.assert_sound().await;
}

pub async fn a_rename_to_where_it_is_writes_nothing(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    let outcome = world.edit(rename(memory.id, "/a")).await.unwrap();
    assert_eq!(outcome.operation, None);
    assert_eq!(world.feed().await.len(), 1);
}

pub async fn a_rename_checks_its_precondition_before_the_path(db: Db) {
    let world = World::new(db).await;
    let memory = world.put("/a", "x").await;
    world.put("/b", "y").await;
    let stale = expecting(rename(memory.id, "/b"), Expect::Revision(7));
    assert_refused!(
        world.edit(stale).await,
        StorageError::Refused { refusal: loci_model::decide::Refusal::ExpectFailed, .. }
    );
}

pub async fn a_removed_memory_blocks_nothing(db: Db) {
    let world = World::new(db).await;
    world.put("/a/b", "x").await;
    world.edit(remove("/a/b")).await.unwrap();
    world.put("/a", "x").await;
    world.assert_sound().await;
}

pub async fn two_memories_swap_paths_in_one_batch(db: Db) {
    let world = World::new(db).await;
    let (one, two) = (world.put("/1", "one").await, world.put("/2", "two").await);
    let edits = vec![rename(one.id, "/t"), rename(two.id, "/1"), rename(one.id, "/2")];
    world.commit(edits).await.unwrap();
    assert_eq!(world.text_at("/1").await.unwrap(), "two");
    assert_eq!(world.text_at("/2").await.unwrap(), "one");
}

pub async fn paths_are_compared_by_their_bytes(db: Db) {
    let world = World::new(db).await;
    world.put("/Readme", "x").await;
    world.put("/readme", "y").await;
    assert_eq!(world.paths().await, ["/Readme", "/readme"]);
    assert_eq!(world.get("/README").await, None);
}

pub async fn percent_and_underscore_are_plain_characters(db: Db) {
    let world = World::new(db).await;
    for path in ["/a%/x", "/a_/x", "/ab/x", "/a*/x"] {
        world.put(path, "x").await;
    }
    assert_eq!(super::list::under(&world, "/a%/").await, ["/a%/x"]);
    assert_eq!(super::list::under(&world, "/a_/").await, ["/a_/x"]);
    assert_eq!(super::list::under(&world, "/a*/").await, ["/a*/x"]);
}
