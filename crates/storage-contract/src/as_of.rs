//! The past: a store's texts as they stood at a moment, without what was scrubbed or hidden since.

use super::fixture::*;
use super::redact::erase;
use loci_model::policy::ReadPass;
use loci_model::{Content, Memory, Operation, StorePolicy, VersionId, Visibility};
use loci_storage::{AsOf, Mutation, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

/// All texts of a moment, in several pages.
async fn texts_for(world: &World, pass: &ReadPass, at: AsOf) -> Vec<Memory> {
    let (mut texts, mut after) = (Vec::new(), 0);
    loop {
        let page = world.storage.texts_at(pass, at, after, 2).await.unwrap();
        texts.extend(page.memories);
        match page.next {
            Some(next) => after = next,
            None => return texts,
        }
    }
}

/// Paths and texts of a moment, by path.
async fn stood(world: &World, at: AsOf) -> Vec<(String, String)> {
    let texts = texts_for(world, &world.read_pass(), at).await;
    let mut stood: Vec<_> = texts
        .iter()
        .map(|memory| {
            let text = memory.content.as_ref().and_then(Content::text).unwrap();
            (memory.path.to_string(), text.to_owned())
        })
        .collect();
    stood.sort();
    stood
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.map(|(path, text)| (path.to_owned(), text.to_owned())).into()
}

pub async fn each_moment_has_its_own_texts(db: Db) {
    let world = World::new(db).await;
    let a = world.put("/a", "one").await;
    world.put("/b", "two").await;
    world.put("/a", "three").await;
    world.edit(rename(a.id, "/c")).await.unwrap();
    world.edit(remove("/b")).await.unwrap();
    let moments = [
        pairs([]),
        pairs([("/a", "one")]),
        pairs([("/a", "one"), ("/b", "two")]),
        pairs([("/a", "three"), ("/b", "two")]),
        pairs([("/b", "two"), ("/c", "three")]),
        pairs([("/c", "three")]),
    ];
    for (seq, expected) in moments.iter().enumerate() {
        assert_eq!(stood(&world, AsOf::Seq(seq as u64)).await, *expected, "after {seq}");
    }
    assert_eq!(stood(&world, AsOf::Seq(99)).await, moments[5], "no later than the end");
    for change in world.feed().await {
        let expected = &moments[usize::try_from(change.seq).unwrap()];
        let before = &moments[usize::try_from(change.seq).unwrap() - 1];
        assert_eq!(stood(&world, AsOf::Time(change.at)).await, *expected);
        assert_eq!(stood(&world, AsOf::Version(change.version)).await, *expected);
        let earlier = loci_model::Timestamp::from_micros(change.at.as_micros() - 1);
        assert_eq!(stood(&world, AsOf::Time(earlier)).await, *before);
    }
}

pub async fn a_memory_of_the_past_is_as_it_was(db: Db) {
    let world = World::new(db).await;
    let first = world.put_with("/a", "one", tagged(&["old"])).await;
    let second = world.edit(describe(first.id, of_kind("fact"))).await.unwrap().memory;
    world.put("/a", "three").await;
    for (memory, at) in [(first, AsOf::Seq(1)), (second, AsOf::Seq(2))] {
        let texts = texts_for(&world, &world.read_pass(), at).await;
        let content = Some(Content::Text("one".into()));
        assert_eq!(texts, [Memory { content, ..memory }]);
    }
}

pub async fn many_texts_of_the_past_come_in_pages(db: Db) {
    let world = World::new(db).await;
    let edits = (0..7).map(|n| put(&format!("/{n}"), "x")).collect();
    world.commit(edits).await.unwrap();
    for n in 0..7 {
        world.edit(remove(&format!("/{n}"))).await.unwrap();
    }
    assert_eq!(stood(&world, AsOf::Seq(7)).await.len(), 7);
    assert_eq!(stood(&world, AsOf::Seq(10)).await.len(), 4);
}

pub async fn what_was_scrubbed_since_is_not_in_the_past(db: Db) {
    let world = World::new(db).await;
    let old = world.put("/a", "canary").await;
    world.put("/a", "clean").await;
    let erased = world.put("/b", "canary").await;
    world.write(Mutation::Redact(world.manage_pass(), old.head)).await.unwrap();
    erase(&world, erased.id).await.unwrap();
    assert_eq!(stood(&world, AsOf::Seq(1)).await, pairs([]));
    assert_eq!(stood(&world, AsOf::Seq(3)).await, pairs([("/a", "clean")]));
    // A redacted version still names its moment.
    assert_eq!(stood(&world, AsOf::Version(old.head)).await, pairs([]));
}

pub async fn what_had_expired_by_then_is_left_out(db: Db) {
    let world = World::new(db).await;
    let end = world.in_secs(10);
    let memory = world.put_with("/a", "brief", until(end)).await;
    world.put("/b", "lasting").await;
    world.move_clock(20);
    let both = pairs([("/a", "brief"), ("/b", "lasting")]);
    let lasting = pairs([("/b", "lasting")]);
    let early = AsOf::Time(end.plus_secs(-1));
    assert_eq!(stood(&world, early).await, both, "expired now, but not then");
    assert_eq!(stood(&world, AsOf::Seq(2)).await, both);
    assert_eq!(stood(&world, AsOf::Time(end)).await, lasting);
    let version = VersionId::from_u128(next_bits());
    let expire = Mutation::Expire { pass: world.write_pass(), memory: memory.id, version };
    world.write(expire).await.unwrap();
    assert_eq!(stood(&world, early).await, both);
    assert_eq!(stood(&world, AsOf::Version(version)).await, lasting);
}

pub async fn sealed_content_is_not_in_the_past(db: Db) {
    let world = World::new(db).await;
    world.edit(put_sealed("/a", b"sealed")).await.unwrap();
    world.put("/a", "open").await;
    assert_eq!(stood(&world, AsOf::Seq(1)).await, pairs([]));
    assert_eq!(stood(&world, AsOf::Seq(2)).await, pairs([("/a", "open")]));
}

pub async fn a_model_gets_no_hidden_past(db: Db) {
    let world = World::new(db).await;
    let internal = shown_as(Visibility::Internal);
    let hidden_then = world.put_with("/then", "x", internal.clone()).await;
    let hidden_now = world.put("/now", "x").await;
    world.put("/never", "x").await;
    let hidden_to_the_end = world.put_with("/end", "x", internal.clone()).await;
    world.edit(describe(hidden_then.id, shown_as(Visibility::Context))).await.unwrap();
    world.edit(describe(hidden_now.id, internal)).await.unwrap();
    world.edit(remove("/end")).await.unwrap();
    let pass = world.model_read_pass().await;
    let paths = async |at| {
        let texts = texts_for(&world, &pass, at).await;
        let mut paths: Vec<_> = texts.iter().map(|memory| memory.path.to_string()).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(AsOf::Seq(4)).await, ["/never"]);
    assert_eq!(paths(AsOf::Seq(5)).await, ["/never", "/then"]);
    assert_eq!(stood(&world, AsOf::Seq(4)).await.len(), 4, "a host gets all");
    let hidden = AsOf::Version(hidden_to_the_end.head);
    let refused = world.storage.texts_at(&pass, hidden, 0, 10).await;
    assert_refused!(refused, StorageError::NotFound(_));
}

pub async fn a_moment_must_be_one_of_the_stores(db: Db) {
    let world = World::new(db).await;
    world.put("/a", "x").await;
    let other = world.new_store(StorePolicy::default()).await.id;
    let pass = world.system().write(world.workspace, other, world.owner, world.now());
    let there = world.commit_as(pass, vec![put("/1", "theirs")]).await.unwrap();
    let unknown = VersionId::from_u128(next_bits());
    for version in [there[0].memory.head, unknown] {
        let at = AsOf::Version(version);
        let refused = world.storage.texts_at(&world.read_pass(), at, 0, 10).await;
        assert_refused!(refused, StorageError::NotFound("memory version"));
    }
    let nowhere = world.system().read(
        world.workspace,
        loci_model::StoreId::from_u128(next_bits()),
        world.now(),
    );
    let refused = world.storage.texts_at(&nowhere, AsOf::Seq(1), 0, 10).await;
    assert_refused!(refused, StorageError::NotFound("memory store"));
    assert_eq!(stood(&world, AsOf::Seq(9)).await, pairs([("/a", "x")]));
    assert!(world.history().await.iter().all(|v| v.operation == Operation::Created));
}
