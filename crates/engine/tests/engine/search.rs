//! Finding what was written: at once by word, by meaning once vectors are made, and never what is
//! gone. Filters, signals, fusion and explanations, over the whole engine.

use crate::stage::{Stage, asking, paths};
use loci_engine::search::{Fusion, Mode, Reach, Recency, SearchFilter, Signals, Span, Wanted};
use loci_model::{
    At, Attributes, AttributesPatch, Content, Edit, EditOp, Expect, MemoryId, MemoryPath, OnSame,
    PathPrefix, StoreId, View,
};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

fn lexical(text: &str) -> Wanted {
    Wanted { mode: Mode::Lexical, ..Wanted::new(text, 100) }
}

fn semantic(text: &str) -> Wanted {
    Wanted { mode: Mode::Semantic, ..Wanted::new(text, 100) }
}

async fn put_with(stage: &Stage, store: StoreId, path: &str, text: &str, attributes: Attributes) {
    let op = EditOp::Put {
        content: Some(Content::Text(text.into())),
        to: None,
        attributes: AttributesPatch::replace(attributes),
    };
    let at = At::Path(None, MemoryPath::parse(path).unwrap());
    let edit = Edit { at, expect: Expect::Anything, on_same: OnSame::Skip, op };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
}

async fn move_to(stage: &Stage, store: StoreId, memory: MemoryId, path: &str) {
    let to = Some(MemoryPath::parse(path).unwrap());
    let op = EditOp::Put { content: None, to, attributes: AttributesPatch::default() };
    let at = At::Id(memory);
    let edit = Edit { at, expect: Expect::Present, on_same: OnSame::Skip, op };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
}

#[tokio::test]
async fn a_write_is_found_by_word_by_the_very_next_search() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    assert!(stage.paths(store, "tea").await.is_empty());
    for n in 0..40 {
        stage.put(store, &format!("/{n}"), &format!("tea number {n}")).await;
        assert_eq!(stage.paths(store, &n.to_string()).await, [format!("/{n}")]);
        assert_eq!(stage.paths(store, "tea").await.len(), n + 1);
    }
    let answer = stage.search(&asking(store, lexical("tea"))).await;
    assert!(answer.indexed_through.is_empty(), "there are no vectors");
}

#[tokio::test]
async fn a_store_is_read_to_its_end_even_if_nobody_waits_for_it() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    for n in 0..100 {
        stage.put(store, &format!("/{n}"), "tea").await;
    }
    let request = asking(store, lexical("tea"));
    let mut asked = Box::pin(stage.engine.search(&stage.admin, &request));
    let has_begun = poll_fn(|context| Poll::Ready(asked.as_mut().poll(context).is_pending())).await;
    assert!(has_begun, "a hundred texts are not read at once");
    drop(asked);
    let is_read = async {
        while stage.engine.embedding_status(&stage.admin).await.unwrap().index_bytes == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), is_read).await.expect("it is read");
}

#[tokio::test]
async fn what_changes_is_found_as_it_is_now() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let first = stage.put(store, "/first", "green tea").await.memory;
    stage.put(store, "/second", "black coffee").await;
    assert_eq!(stage.paths(store, "green").await, ["/first"]);

    stage.put(store, "/first", "white tea").await;
    assert!(stage.paths(store, "green").await.is_empty());
    assert_eq!(stage.paths(store, "white").await, ["/first"]);

    move_to(&stage, store, first.id, "/harbour/moved").await;
    assert_eq!(stage.paths(store, "white").await, ["/harbour/moved"]);
    assert_eq!(stage.paths(store, "harbour").await, ["/harbour/moved"], "paths are words too");
    assert!(stage.paths(store, "first").await.is_empty());

    let removal = Edit::remove(At::Id(first.id), Expect::Present);
    stage.engine.commit_one(&stage.admin, store, removal, "api").await.unwrap();
    assert!(stage.paths(store, "white").await.is_empty());
    assert_eq!(stage.paths(store, "coffee").await, ["/second"]);

    let third = stage.put(store, "/third", "canary").await.memory;
    assert_eq!(stage.paths(store, "canary").await, ["/third"]);
    stage.engine.erase(&stage.admin, store, third.id).await.unwrap();
    assert!(stage.paths(store, "canary").await.is_empty());
}

#[tokio::test]
async fn what_expires_is_gone_the_moment_it_does() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let end = stage.engine.seams().now().plus_secs(10);
    let attributes = Attributes { expires_at: Some(end), ..Attributes::default() };
    put_with(&stage, store, "/a/1", "tea", attributes).await;
    stage.put(store, "/a/2", "tea").await;
    assert_eq!(stage.paths(store, "tea").await.len(), 2);
    stage.pass_secs(9);
    assert_eq!(stage.paths(store, "tea").await.len(), 2);
    let before = stage.search(&asking(store, lexical("tea"))).await.hits;
    stage.pass_secs(1);
    assert_eq!(stage.paths(store, "tea").await, ["/a/2"]);
    let after = stage.search(&asking(store, lexical("tea"))).await.hits;
    let left = before.iter().find(|hit| hit.memory.path.as_str() == "/a/2").unwrap();
    assert_ne!(left.score.to_bits(), after[0].score.to_bits(), "it does not even count any more");
    stage.engine.sweep().await.unwrap();
    assert_eq!(stage.paths(store, "tea").await, ["/a/2"]);
}

#[tokio::test]
async fn sealed_content_is_not_looked_into() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let op = EditOp::Put {
        content: Some(Content::Sealed(b"tea".to_vec())),
        to: None,
        attributes: AttributesPatch::default(),
    };
    let at = At::Path(None, MemoryPath::parse("/tea").unwrap());
    let edit = Edit { at, expect: Expect::Anything, on_same: OnSame::Skip, op };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
    assert!(stage.paths(store, "tea").await.is_empty());
    stage.put(store, "/tea", "tea").await;
    assert_eq!(stage.paths(store, "tea").await, ["/tea"]);
}

#[tokio::test]
async fn each_filter_chooses() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    let start = stage.engine.seams().now();
    let attributes = Attributes {
        kind: Some("fact".into()),
        tags: vec!["warm".into(), "green".into()],
        source: Some("chat".into()),
        scope: Some("work".into()),
        metadata: Some(r#"{"n":1,"who":"Ana"}"#.into()),
        ..Attributes::default()
    };
    put_with(&stage, store, "/a/one", "tea", attributes).await;
    stage.pass_secs(100);
    stage.put(store, "/b/two", "tea").await;
    stage.follow().await;
    let none = SearchFilter::default;
    let later = start.plus_secs(50);
    for (filter, expected) in [
        (none(), vec!["/a/one", "/b/two"]),
        (
            SearchFilter { prefixes: vec![PathPrefix::parse("/b/").unwrap()], ..none() },
            vec!["/b/two"],
        ),
        (SearchFilter { kinds: vec!["note".into(), "fact".into()], ..none() }, vec!["/a/one"]),
        (SearchFilter { tags: vec!["green".into(), "warm".into()], ..none() }, vec!["/a/one"]),
        (SearchFilter { tags: vec!["green".into(), "cold".into()], ..none() }, vec![]),
        (SearchFilter { source: Some("chat".into()), ..none() }, vec!["/a/one"]),
        (SearchFilter { scope: Some("work".into()), ..none() }, vec!["/a/one"]),
        (SearchFilter { scope: Some("chat".into()), ..none() }, vec![]),
        (SearchFilter { metadata: vec![("n".into(), "1".into())], ..none() }, vec!["/a/one"]),
        (SearchFilter { metadata: vec![("who".into(), "\"Bo\"".into())], ..none() }, vec![]),
        (
            SearchFilter { created: Span { since: Some(later), until: None }, ..none() },
            vec!["/b/two"],
        ),
        (
            SearchFilter { updated: Span { since: None, until: Some(later) }, ..none() },
            vec!["/a/one"],
        ),
    ] {
        for mode in [Mode::Hybrid, Mode::Lexical, Mode::Semantic] {
            let wanted = Wanted { filter: filter.clone(), mode, ..lexical("tea") };
            let mut found = paths(&stage.search(&asking(store, wanted)).await);
            found.sort();
            assert_eq!(found, expected, "{filter:?} {mode:?}");
        }
    }
}

#[tokio::test]
async fn meaning_comes_with_the_vectors() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "green tea in the morning").await;
    let answer = stage.search(&asking(store, semantic("tea morning"))).await;
    assert!(answer.hits.is_empty() && !answer.is_complete);
    let answer = stage.search(&asking(store, Wanted::new("tea", 10))).await;
    assert_eq!(paths(&answer), ["/a"], "by word meanwhile");
    assert!(!answer.is_complete);

    stage.follow().await;
    let answer = stage.search(&asking(store, semantic("tea morning"))).await;
    assert_eq!(paths(&answer), ["/a"]);
    assert!(answer.is_complete);
    assert_eq!(answer.indexed_through, [(store, 1)]);
    let why = answer.hits[0].explanation.as_ref().unwrap();
    assert!(why.semantic.unwrap() > 0.3 && why.lexical == 0.0, "{why:?}");

    // Moving it costs no vector, changing its words does.
    stage.put(store, "/b", "a violin at night").await;
    let answer = stage.search(&asking(store, semantic("violin at night"))).await;
    assert!(!answer.is_complete);
    assert_eq!(answer.indexed_through, [(store, 1)]);
    stage.follow().await;
    let answer = stage.search(&asking(store, semantic("violin at night"))).await;
    assert_eq!(paths(&answer)[0], "/b");
    assert_eq!(answer.indexed_through, [(store, 2)]);
    assert!(answer.is_complete);
}

#[tokio::test]
async fn a_blank_memory_is_no_reason_to_wait() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/blank", " \n").await;
    stage.put(store, "/tea", "tea").await;
    stage.follow().await;
    let answer = stage.search(&asking(store, Wanted::new("tea", 10))).await;
    assert_eq!(paths(&answer)[0], "/tea");
    assert!(answer.is_complete, "what has no meaning lacks no vector");
}

#[tokio::test]
async fn modes_and_fusions_explain_themselves() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    for n in 1..=4 {
        stage
            .put(store, &format!("/talk/turn_{n}"), &format!("Ana (3 May): tea and cake {n}"))
            .await;
        stage.put(store, &format!("/talk/turn_{n}b"), "Bo (3 May): tea then").await;
        stage.put(store, &format!("/notes/{n}"), &format!("the lamp of the harbour {n}")).await;
    }
    stage.follow().await;
    let fusions = [
        Fusion::default(),
        Fusion::Convex { lexical_weight: Some(0.9) },
        Fusion::Rrf { k: 60.0 },
        Fusion::Rrf { k: 0.0 },
    ];
    let recency = Some(Recency { weight: 0.3, half_life_secs: 3600.0 });
    for fusion in fusions {
        for mode in [Mode::Hybrid, Mode::Lexical, Mode::Semantic] {
            let signals = Signals { recency, importance: 0.2, pinned: 0.1 };
            for diversity in [0.0, 0.7] {
                let wanted = Wanted {
                    mode,
                    fusion,
                    signals,
                    diversity,
                    ..Wanted::new("what cake does Ana like with tea?", 20)
                };
                let answer = stage.search(&asking(store, wanted)).await;
                assert!(!answer.hits.is_empty());
                for hit in answer.hits {
                    let why = hit.explanation.unwrap();
                    let moved = why.directory_prior + why.recency + why.importance + why.pinned;
                    let sum = why.fused * why.author_boost + moved;
                    assert!((sum - hit.score).abs() < 1e-4, "{mode:?} {fusion:?} {why:?}");
                    let by_ana = hit.memory.content.unwrap().text().unwrap().starts_with("Ana");
                    assert_eq!(why.author_boost > 1.0, by_ana);
                    assert_eq!(mode == Mode::Lexical, why.semantic.is_none());
                }
            }
        }
    }
}

#[tokio::test]
async fn signals_move_equals_apart() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/old/x", "tea").await;
    let important = Attributes { importance: Some(100), ..Attributes::default() };
    put_with(&stage, store, "/important/x", "tea", important).await;
    let pinned = Attributes { pinned: true, ..Attributes::default() };
    put_with(&stage, store, "/pinned/x", "tea", pinned).await;
    stage.pass_secs(10_000);
    stage.put(store, "/new/x", "tea").await;
    let first = async |signals: Signals| {
        let answer = stage.search(&asking(store, Wanted { signals, ..lexical("tea") })).await;
        paths(&answer).remove(0)
    };
    let none = Signals::default();
    let recency = Some(Recency { weight: 0.5, half_life_secs: 100.0 });
    assert_eq!(first(Signals { recency, ..none }).await, "/new/x");
    assert_eq!(first(Signals { importance: 0.5, ..none }).await, "/important/x");
    assert_eq!(first(Signals { pinned: 0.5, ..none }).await, "/pinned/x");
}

#[tokio::test]
async fn diversity_spreads_what_says_the_same() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    for n in 0..3 {
        stage.put(store, &format!("/{n}/x"), "green tea in the harbour").await;
    }
    stage.put(store, "/other/x", "tea with milk").await;
    stage.follow().await;
    let ask = async |diversity: f32| {
        let wanted = Wanted { diversity, ..Wanted::new("green tea harbour", 2) };
        paths(&stage.search(&asking(store, wanted)).await)
    };
    assert!(!ask(0.0).await.contains(&"/other/x".to_owned()));
    assert_eq!(ask(0.8).await[1], "/other/x");
}

#[tokio::test]
async fn views_and_snippets_show_what_was_asked_for() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "Every morning there is green tea in the harbour").await;
    let mut request = asking(store, lexical("tea"));
    (request.view, request.explain, request.snippet_chars) = (View::Basic, false, 20);
    let hit = stage.search(&request).await.hits.remove(0);
    assert_eq!((hit.memory.content, hit.explanation), (None, None));
    assert!(hit.snippet.text.contains("tea") && hit.snippet.text.chars().count() <= 20);
    assert!(hit.snippet.is_cut_before && hit.snippet.is_cut_after);
    let range = hit.snippet.highlights[0].clone();
    let marked: String = hit.snippet.text.chars().skip(range.start).take(range.len()).collect();
    assert_eq!(marked, "tea");
    request.reach = Reach::Everywhere;
    assert_eq!(stage.search(&request).await.hits.len(), 1);
}
