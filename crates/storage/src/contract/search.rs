//! Word search: what is found, and that nothing is found that a reader could not get.

use super::fixture::*;
use crate::{Mutation, Storage};
use loci_model::policy;
use loci_model::{Audience, MemoryId, StorePolicy, Visibility};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

pub async fn any_of_the_words_finds_a_memory(db: Db) {
    let world = World::new(db).await;
    let fox = world.put("/1", "the quick brown fox").await.id;
    let dog = world.put("/2", "the lazy dog").await.id;
    assert_eq!(world.find(&["fox"]).await, [fox]);
    assert_eq!(world.find(&["fox", "dog"]).await, [fox, dog]);
    assert_eq!(world.find(&["the"]).await, [fox, dog]);
    assert!(world.find(&["cat"]).await.is_empty());
    assert!(world.find(&["do", "og"]).await.is_empty(), "whole words only");
    assert!(world.find(&[]).await.is_empty());
}

pub async fn case_does_not_matter(db: Db) {
    let world = World::new(db).await;
    let id = world.put("/1", "Zürich ÄPFEL").await.id;
    assert_eq!(world.find(&["zürich"]).await, [id]);
    assert_eq!(world.find(&["äpfel"]).await, [id]);
    assert_eq!(world.find(&["ZÜRICH"]).await, [id]);
}

pub async fn path_and_tags_are_searched_too(db: Db) {
    let world = World::new(db).await;
    let id = world.put_with("/travel/plans.md", "x", tagged(&["Summer"])).await.id;
    for word in ["travel", "plans", "summer"] {
        assert_eq!(world.find(&[word]).await, [id], "{word}");
    }
}

pub async fn words_match_nothing_of_our_own(db: Db) {
    let world = World::new(db).await;
    world.put("/x", "text").await;
    for number in 0..20 {
        assert!(world.find(&[&format!("s{number}")]).await.is_empty());
    }
    for word in ["store", "content", "tags", "path", "null"] {
        assert!(world.find(&[word]).await.is_empty(), "{word}");
    }
}

pub async fn query_syntax_is_just_text(db: Db) {
    let world = World::new(db).await;
    let id = world.put("/1", "this and that").await.id;
    for word in ["\"", "*", "(", "AND", "NOT", "-", "content:x", "^", "'", "a\"b", "\u{0}"] {
        let found = world.find(&[word]).await;
        assert!(found.is_empty() || found == [id], "{word:?}");
    }
    assert_eq!(world.find(&["\"", "that"]).await, [id]);
    assert!(world.find(&["th*"]).await.is_empty(), "no prefix search by accident");
}

pub async fn an_edit_changes_what_is_found(db: Db) {
    let world = World::new(db).await;
    let id = world.put("/1", "alpha beta").await.id;
    world.put("/1", "beta gamma").await;
    assert!(world.find(&["alpha"]).await.is_empty());
    assert_eq!(world.find(&["gamma"]).await, [id]);
    world.edit(rename(id, "/moved")).await.unwrap();
    assert_eq!(world.find(&["moved"]).await, [id]);
    assert!(world.find(&["1"]).await.is_empty());
    world.edit(describe(id, tagged(&["label"]))).await.unwrap();
    assert_eq!(world.find(&["label"]).await, [id]);
    world.edit(describe(id, tagged(&[]))).await.unwrap();
    assert!(world.find(&["label"]).await.is_empty());
    world.edit(remove("/moved")).await.unwrap();
    assert!(world.find(&["beta", "gamma", "moved"]).await.is_empty());
    world.assert_sound().await;
}

pub async fn sealed_content_is_never_found(db: Db) {
    let world = World::new(db).await;
    world.edit(put_sealed("/sealed", b"plain words")).await.unwrap();
    assert!(world.find(&["plain", "words", "sealed"]).await.is_empty());
    let id = world.put("/sealed", "plain words").await.id;
    assert_eq!(world.find(&["plain"]).await, [id]);
    world.edit(put_sealed("/sealed", b"plain words")).await.unwrap();
    assert!(world.find(&["plain", "words", "sealed"]).await.is_empty());
    world.assert_sound().await;
}

pub async fn expired_and_internal_memories_are_not_found(db: Db) {
    let world = World::new(db).await;
    world.put_with("/over", "word", until(world.in_secs(2))).await;
    let internal = world.put_with("/in", "word", shown_as(Visibility::Internal)).await.id;
    let shown = world.put("/out", "word").await.id;
    world.move_clock(10);
    assert_eq!(world.find(&["word"]).await, [internal, shown]);
    let caller = world.caller(world.owner, Audience::Model);
    let pass = policy::search(&caller, &[world.facts(world.owner).await], world.now());
    let words = ["word".to_owned()];
    let found = world.storage.find_words(&pass, &words, 10).await.unwrap();
    assert_eq!(found, [shown]);
}

pub async fn only_the_stores_of_the_pass_are_searched(db: Db) {
    let world = World::new(db).await;
    let here = world.put("/1", "word").await.id;
    let other = world.new_store(StorePolicy::default()).await.id;
    let pass = world.system().write(other, world.owner, world.now());
    let there = world.commit_as(pass, vec![put("/1", "word")]).await.unwrap();
    let there = there[0].memory.id;
    let words = ["word".to_owned()];
    let find = async |stores: Vec<_>| -> Vec<MemoryId> {
        let pass = world.system().search(stores, world.now());
        let mut found = world.storage.find_words(&pass, &words, 10).await.unwrap();
        found.sort();
        found
    };
    assert_eq!(find(vec![world.store]).await, [here]);
    assert_eq!(find(vec![other]).await, [there]);
    assert_eq!(find(vec![world.store, other]).await, [here, there]);
    assert!(find(vec![]).await.is_empty());
    world.write(Mutation::RemoveStore(world.system().manage(other, world.now()))).await.unwrap();
    assert_eq!(find(vec![world.store, other]).await, [here]);
}

pub async fn a_search_stops_at_its_limit(db: Db) {
    let world = World::new(db).await;
    let edits = (0..9).map(|n| put(&format!("/{n}"), "word")).collect();
    world.commit(edits).await.unwrap();
    let words = ["word".to_owned()];
    let found = world.storage.find_words(&world.search_pass(), &words, 4).await.unwrap();
    assert_eq!(found.len(), 4);
}

pub async fn more_of_the_words_ranks_higher(db: Db) {
    let world = World::new(db).await;
    world.put("/1", "alpha").await;
    let both = world.put("/2", "alpha omega").await.id;
    world.put("/3", "alpha").await;
    let words = ["alpha".to_owned(), "omega".to_owned()];
    let found = world.storage.find_words(&world.search_pass(), &words, 10).await.unwrap();
    assert_eq!((found.len(), found[0]), (3, both));
}
