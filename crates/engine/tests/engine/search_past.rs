//! Searching a store as it stood: by time, by feed number, by version. What was scrubbed since does
//! not come back, and neither does what is hidden now.

use crate::embedder::WordSum;
use crate::stage::{Stage, asking, full_key, paths, paths_by_word};
use loci_engine::search::embed::Embedder;
use loci_engine::search::{AsOf, Mode, Reach, SearchOptions, SearchRequest, Wanted};
use loci_engine::{Error, NewKey};
use loci_model::{
    At, Attributes, AttributesPatch, Audience, Edit, EditOp, Expect, OnSame, Visibility,
};
use loci_model::{MemoryId, StoreId, VersionId};
use std::sync::Arc;

fn at(store: StoreId, text: &str, moment: AsOf) -> SearchRequest {
    let wanted = Wanted { mode: Mode::Lexical, ..Wanted::new(text, 100) };
    SearchRequest { as_of: Some(moment), ..asking(store, wanted) }
}

async fn remove(stage: &Stage, store: StoreId, memory: MemoryId) {
    let removal = Edit::remove(At::Id(memory), Expect::Present);
    stage.engine.commit_one(&stage.admin, store, removal, "api").await.unwrap();
}

async fn patch(stage: &Stage, store: StoreId, memory: MemoryId, attributes: Attributes) {
    let attributes = AttributesPatch::replace(attributes);
    let op = EditOp::Put { content: None, to: None, attributes };
    let edit = Edit { at: At::Id(memory), expect: Expect::Present, on_same: OnSame::Skip, op };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
}

#[tokio::test]
async fn before_an_update_and_after_a_removal() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let times = |secs: i64| AsOf::Time(stage.engine.seams().now().plus_secs(secs));
    let first = stage.put(store, "/a", "green tea").await.memory;
    stage.pass_secs(10);
    let second = stage.put(store, "/a", "black coffee").await.memory;
    stage.pass_secs(10);
    let other = stage.put(store, "/b", "white milk").await.memory;
    stage.pass_secs(10);
    remove(&stage, store, first.id).await;
    stage.pass_secs(10);

    let ask = async |text: &str, moment: AsOf| {
        paths_by_word(&stage.search(&at(store, text, moment)).await)
    };
    for (moment, tea, coffee, milk) in [
        (times(-41), 0, 0, 0),
        (times(-40), 1, 0, 0),
        (times(-31), 1, 0, 0),
        (times(-30), 0, 1, 0),
        (times(-20), 0, 1, 1),
        (times(-10), 0, 0, 1),
        (times(0), 0, 0, 1),
        (AsOf::Seq(0), 0, 0, 0),
        (AsOf::Seq(1), 1, 0, 0),
        (AsOf::Seq(2), 0, 1, 0),
        (AsOf::Seq(3), 0, 1, 1),
        (AsOf::Seq(4), 0, 0, 1),
        (AsOf::Seq(99), 0, 0, 1),
        (AsOf::Version(first.head), 1, 0, 0),
        (AsOf::Version(second.head), 0, 1, 0),
        (AsOf::Version(other.head), 0, 1, 1),
    ] {
        for (text, count) in [("tea", tea), ("coffee", coffee), ("milk", milk)] {
            assert_eq!(ask(text, moment).await.len(), count, "{text} {moment:?}");
        }
    }
    let hit = stage.search(&at(store, "tea", AsOf::Seq(1))).await.hits.remove(0);
    assert_eq!(hit.memory.content.unwrap().text(), Some("green tea"));
    assert_eq!((hit.memory.head, hit.memory.revision), (first.head, 1));
    let unknown = at(store, "tea", AsOf::Version(VersionId::from_u128(5)));
    let refused = stage.engine.search(&stage.admin, &unknown).await;
    assert!(matches!(refused, Err(Error::NotFound("memory version"))), "{refused:?}");
}

#[tokio::test]
async fn the_past_is_compared_by_the_vectors_it_had() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "green tea in the morning").await;
    stage.put(store, "/b", "a violin at night").await;
    stage.follow().await;
    stage.put(store, "/a", "black coffee at noon").await;
    stage.follow().await;
    let wanted = Wanted { mode: Mode::Semantic, ..Wanted::new("green tea morning", 10) };
    let request = SearchRequest { as_of: Some(AsOf::Seq(2)), ..asking(store, wanted) };
    let answer = stage.search(&request).await;
    assert_eq!(paths(&answer), ["/a", "/b"]);
    assert!(answer.is_complete && answer.indexed_through.is_empty());
    let content = answer.hits[0].memory.content.as_ref().unwrap();
    assert_eq!(content.text(), Some("green tea in the morning"));
}

#[tokio::test]
async fn the_present_as_the_past_is_the_present() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    for n in 0..30 {
        stage.put(store, &format!("/d/{}", n % 17), &format!("tea {n} cup {}", n % 5)).await;
    }
    stage.follow().await;
    for mode in [Mode::Hybrid, Mode::Lexical, Mode::Semantic] {
        let wanted = Wanted { mode, ..Wanted::new("tea cup 3", 50) };
        let now = asking(store, wanted);
        let past = SearchRequest { as_of: Some(AsOf::Seq(30)), ..now.clone() };
        assert_eq!(stage.search(&past).await.hits, stage.search(&now).await.hits, "{mode:?}");
    }
}

#[tokio::test]
async fn what_was_scrubbed_does_not_come_back() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let first = stage.put(store, "/a", "a canary").await.memory;
    stage.put(store, "/a", "tea").await;
    let bird = stage.put(store, "/b", "another canary").await.memory;
    let ask = async |seq: u64| {
        paths_by_word(&stage.search(&at(store, "canary", AsOf::Seq(seq))).await).len()
    };
    assert_eq!((ask(1).await, ask(3).await), (1, 1));
    stage.engine.redact(&stage.admin, store, first.head).await.unwrap();
    assert_eq!((ask(1).await, ask(3).await), (0, 1));
    stage.engine.erase(&stage.admin, store, bird.id).await.unwrap();
    for seq in 0..9 {
        assert_eq!(ask(seq).await, 0, "{seq}");
    }
}

#[tokio::test]
async fn hidden_now_or_then_is_hidden_in_the_past() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let key = NewKey { audience: Audience::Model, ..full_key("model") };
    let model = stage.enter(&stage.key(key).await.1).await;
    let memory = stage.put(store, "/a", "canary").await.memory;
    let ask = async |seq: u64| {
        let answer = stage.engine.search(&model, &at(store, "canary", AsOf::Seq(seq))).await;
        answer.unwrap().hits.len()
    };
    assert_eq!(ask(1).await, 1);
    let internal = Attributes { visibility: Visibility::Internal, ..Attributes::default() };
    patch(&stage, store, memory.id, internal).await;
    assert_eq!((ask(1).await, ask(2).await), (0, 0), "its history is hidden with it");
    let version = at(store, "canary", AsOf::Version(memory.head));
    let refused = stage.engine.search(&model, &version).await;
    assert!(matches!(refused, Err(Error::NotFound("memory version"))));
    patch(&stage, store, memory.id, Attributes::default()).await;
    assert_eq!((ask(1).await, ask(2).await, ask(3).await), (1, 0, 1));
}

#[tokio::test]
async fn what_had_expired_then_is_not_found_then() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let start = stage.engine.seams().now();
    let memory = stage.put(store, "/a", "tea").await.memory;
    let expires_at = Some(start.plus_secs(10));
    patch(&stage, store, memory.id, Attributes { expires_at, ..Attributes::default() }).await;
    stage.pass_secs(60);
    stage.engine.sweep().await.unwrap();
    let ask = async |secs: i64| {
        let moment = AsOf::Time(start.plus_secs(secs));
        stage.search(&at(store, "tea", moment)).await.hits.len()
    };
    assert_eq!((ask(5).await, ask(10).await, ask(60).await), (1, 0, 0));
    let wide = SearchRequest { reach: Reach::Everywhere, ..at(store, "tea", AsOf::Seq(1)) };
    assert_eq!(stage.search(&wide).await.hits.len(), 1);
}

#[tokio::test]
async fn a_past_that_would_take_too_much_memory_is_refused_and_the_present_is_not() {
    let options = SearchOptions { past_bytes_max: 100_000, ..SearchOptions::default() };
    let stage = Stage::searching(options).await;
    let store = stage.store("s").await.id;
    let small = stage.store("small").await.id;
    stage.put(small, "/a", "tea").await;
    for n in 0..50 {
        let words: Vec<String> = (0..1000).map(|word| format!("w{n}x{word}")).collect();
        stage.put(store, &format!("/{n}"), &format!("tea {}", words.join(" "))).await;
    }
    let past = |store| at(store, "tea", AsOf::Seq(50));
    let refused = stage.engine.search(&stage.admin, &past(store)).await;
    assert!(
        matches!(&refused, Err(Error::Invalid(invalid)) if invalid.field == "as_of"),
        "{refused:?}"
    );
    assert_eq!(stage.search(&past(small)).await.hits.len(), 1);
    assert_eq!(stage.paths(store, "tea").await.len(), 50);
    let both = SearchRequest { reach: Reach::Stores(vec![small, store]), ..past(store) };
    assert!(stage.engine.search(&stage.admin, &both).await.is_err(), "stores count together");
}

#[tokio::test]
async fn many_searches_of_the_past_take_turns_and_are_all_answered() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    for n in 0..20 {
        stage.put(store, &format!("/{n}"), &format!("tea {n}")).await;
    }
    let past = at(store, "tea", AsOf::Seq(10));
    let asking = (0..8).map(|_| {
        let (engine, admin, past) = (stage.engine.clone(), stage.admin.clone(), past.clone());
        tokio::spawn(async move { engine.search(&admin, &past).await.unwrap().hits.len() })
    });
    for asked in asking.collect::<Vec<_>>() {
        assert_eq!(asked.await.unwrap(), 10);
    }
}

#[tokio::test]
async fn vectors_of_the_past_count_as_well() {
    let embedder = Arc::new(WordSum::new("words-4096", 4096));
    let embedders: Vec<Arc<dyn Embedder>> = vec![embedder];
    let options = SearchOptions { embedders, past_bytes_max: 200_000, ..SearchOptions::default() };
    let stage = Stage::searching(options).await;
    let store = stage.store("s").await.id;
    for n in 0..60 {
        stage.put(store, &format!("/{n}"), &format!("tea number {n}")).await;
    }
    stage.follow().await;
    let by = |mode| {
        let wanted = Wanted { mode, ..Wanted::new("tea", 10) };
        SearchRequest { as_of: Some(AsOf::Seq(60)), ..asking(store, wanted) }
    };
    // The words alone are not too much.
    assert_eq!(stage.search(&by(Mode::Lexical)).await.hits.len(), 10);
    let refused = stage.engine.search(&stage.admin, &by(Mode::Semantic)).await;
    assert!(
        matches!(&refused, Err(Error::Invalid(invalid)) if invalid.field == "as_of"),
        "{refused:?}"
    );
}
