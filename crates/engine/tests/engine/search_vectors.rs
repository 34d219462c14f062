//! Vectors follow the feed: made in the background, waited for, made anew by another model, missing
//! when the embedder fails, and the same in an index that was dropped, changed or compacted.

use crate::embedder::{UNEMBEDDABLE, WordSum};
use crate::stage::{Stage, asking, paths};
use loci_engine::Error;
use loci_engine::search::embed::Embedder;
use loci_engine::search::{Hit, Mode, Reach, SearchOptions, SearchRequest, Wait, Wanted};
use loci_model::{Edit, MemoryPath, StoreId};
use std::sync::Arc;
use std::time::Duration;

fn semantic(store: StoreId, text: &str) -> SearchRequest {
    asking(store, Wanted { mode: Mode::Semantic, ..Wanted::new(text, 10) })
}

fn options(embedders: Vec<Arc<dyn Embedder>>) -> SearchOptions {
    SearchOptions { embedders, ..SearchOptions::default() }
}

fn same(a: &[Hit], b: &[Hit]) {
    let line = |hit: &Hit| (hit.memory.path.as_str().to_owned(), hit.score.to_bits());
    assert_eq!(a.iter().map(line).collect::<Vec<_>>(), b.iter().map(line).collect::<Vec<_>>());
    assert_eq!(a, b);
}

#[tokio::test]
async fn waiting_ends_when_vectors_are_there_or_time_is_over() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "green tea").await;
    stage.put(store, "/b", "black coffee").await;
    let waiting = |until: Option<u64>, at_most: Duration| {
        let wait = Some(Wait { until, at_most });
        SearchRequest { wait, ..semantic(store, "tea") }
    };
    // Nobody makes vectors: time is over, and the search goes on with what there is.
    let answer = stage.search(&waiting(None, Duration::from_millis(80))).await;
    assert!(answer.hits.is_empty() && !answer.is_complete);

    let engine = stage.engine.clone();
    let background = tokio::spawn(async move { engine.follow().await });
    for until in [None, Some(1), Some(2), Some(1_000_000)] {
        let answer = stage.search(&waiting(until, Duration::from_secs(30))).await;
        assert_eq!(paths(&answer)[0], "/a");
        assert_eq!(answer.indexed_through, [(store, 2)], "{until:?}");
    }
    for n in 0..20 {
        stage.put(store, &format!("/{n}"), &format!("cup number {n}")).await;
        let wait = Some(Wait { until: None, at_most: Duration::from_secs(30) });
        let request = SearchRequest { wait, ..semantic(store, &format!("cup number {n}")) };
        let answer = stage.search(&request).await;
        assert!(answer.is_complete);
        assert_eq!(paths(&answer)[0], format!("/{n}"));
    }
    background.abort();
}

#[tokio::test]
async fn waiting_without_an_embedder_waits_for_nothing() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "tea").await;
    let wait = Some(Wait { until: None, at_most: Duration::from_secs(30) });
    let request = SearchRequest { wait, ..asking(store, Wanted::new("tea", 10)) };
    assert_eq!(paths(&stage.search(&request).await), ["/a"]);
    let refused = stage.engine.search(&stage.admin, &semantic(store, "tea")).await;
    assert!(matches!(refused, Err(Error::Invalid(invalid)) if invalid.field == "mode"));
}

#[tokio::test]
async fn vectors_are_made_once_for_the_same_words() {
    let (stage, embedder) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "green tea").await;
    stage.follow().await;
    assert_eq!(embedder.asked(), 1);
    stage.put(store, "/a", "black tea").await;
    stage.put(store, "/a", "green tea").await;
    stage.follow().await;
    assert_eq!(embedder.asked(), 1, "these words had their vector before");
    stage.follow().await;
    let answer = stage.search(&semantic(store, "green tea")).await;
    assert!(answer.is_complete);
}

#[tokio::test]
async fn another_model_takes_over_when_it_has_caught_up() {
    let (old, new) = (Arc::new(WordSum::new("old-16", 16)), Arc::new(WordSum::new("new-24", 24)));
    let stage = Stage::searching(options(vec![old.clone()])).await;
    let (one, two) = (stage.store("one").await.id, stage.store("two").await.id);
    for n in 0..100 {
        stage.put(one, &format!("/{n}"), &format!("tea cup number {n}")).await;
    }
    stage.put(two, "/x", "tea cup").await;
    stage.follow().await;
    let status = stage.engine.embedding_status(&stage.admin).await.unwrap();
    assert_eq!(status.generations, [(1, "old-16".to_owned())]);
    let before = stage.search(&semantic(one, "tea cup number 7")).await;

    // The same data with another model in front.
    let engine = stage.engine.clone().with_search(options(vec![new.clone(), old.clone()]));
    let stage = Stage { engine, ..stage };
    same(&stage.search(&semantic(one, "tea cup number 7")).await.hits, &before.hits);
    let mut wide = SearchRequest { reach: Reach::Everywhere, ..semantic(one, "tea cup number 7") };
    // Results are compared with each other too, and not where their models differ.
    wide.wanted.diversity = 0.3;
    let mut generations_seen = Vec::new();
    loop {
        let is_more = stage.engine.follow_once().await.unwrap();
        let answer = stage.search(&semantic(one, "tea cup number 7")).await;
        assert_eq!(paths(&answer)[0], "/7", "found at every moment");
        assert!(answer.is_complete, "one of the generations is always whole");
        assert_eq!(answer.indexed_through, [(one, 100)]);
        assert!(paths(&stage.search(&wide).await).contains(&"/7".to_owned()));
        let status = stage.engine.embedding_status(&stage.admin).await.unwrap();
        generations_seen.push(status.generations.len());
        if !is_more {
            break;
        }
    }
    assert!(generations_seen.contains(&2), "both for a while: {generations_seen:?}");
    let status = stage.engine.embedding_status(&stage.admin).await.unwrap();
    assert_eq!(status.generations, [(2, "new-24".to_owned())]);
    assert_eq!((status.stores_behind, status.changes_behind, status.dims), (0, 0, 24));
    let queries = old.asked();
    stage.search(&wide).await;
    assert_eq!(old.asked(), queries, "nobody asks the old model any more");
}

#[tokio::test]
async fn embedding_anew_by_the_same_model_serves_the_old_until_the_end() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    for n in 0..150 {
        stage.put(store, &format!("/{n}"), &format!("tea cup number {n}")).await;
    }
    stage.follow().await;
    let before = stage.search(&semantic(store, "cup number 7")).await;
    stage.engine.reembed(&stage.admin).await.unwrap();
    let status = stage.engine.embedding_status(&stage.admin).await.unwrap();
    assert_eq!((status.generation, status.changes_behind), (2, 150));
    while stage.engine.follow_once().await.unwrap() {
        same(&stage.search(&semantic(store, "cup number 7")).await.hits, &before.hits);
    }
    let status = stage.engine.embedding_status(&stage.admin).await.unwrap();
    assert_eq!((status.generations.len(), status.generation), (1, 2));
    same(&stage.search(&semantic(store, "cup number 7")).await.hits, &before.hits);
    let nobody = stage.somebody("nobody").await;
    assert!(matches!(stage.engine.reembed(&nobody).await, Err(Error::Denied(_))));
    assert!(stage.engine.embedding_status(&nobody).await.is_err());
}

#[tokio::test]
async fn a_failing_embedder_leaves_words() {
    let (stage, embedder) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "green tea").await;
    stage.put(store, "/b", "a violin").await;
    stage.follow().await;
    embedder.set_broken(true);
    let answer = stage.search(&asking(store, Wanted::new("tea", 10))).await;
    assert_eq!(paths(&answer)[0], "/a", "words alone decide");
    assert!(answer.hits.iter().all(|hit| hit.explanation.as_ref().unwrap().semantic.is_none()));
    let refused = stage.engine.search(&stage.admin, &semantic(store, "tea")).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    let asked = embedder.asked();
    stage.search(&asking(store, Wanted::new("tea", 10))).await;
    assert_eq!(embedder.asked(), asked, "who failed a moment ago is not waited for again");
    stage.put(store, "/c", "black tea").await;
    assert!(stage.engine.follow_once().await.is_err(), "whoever follows tries again later");
    assert_eq!(stage.paths(store, "black").await, ["/c"]);
    embedder.set_broken(false);
    stage.follow().await;
    let answer = stage.search(&semantic(store, "black tea")).await;
    assert_eq!(paths(&answer)[0], "/c");
    assert!(answer.is_complete);
    // Whoever found out that it works again told everybody.
    let both = stage.search(&asking(store, Wanted::new("black tea", 10))).await;
    assert!(both.hits.iter().all(|hit| hit.explanation.as_ref().unwrap().semantic.is_some()));
}

#[tokio::test]
async fn a_text_that_is_never_embedded_keeps_nobody_waiting() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "green tea").await;
    stage.put(store, "/b", UNEMBEDDABLE).await;
    stage.put(store, "/c", "a violin").await;
    stage.follow().await;
    let answer = stage.search(&semantic(store, "violin tea")).await;
    let mut found = paths(&answer);
    found.sort_unstable();
    assert_eq!(found, ["/a", "/c"]);
    assert!(!answer.is_complete, "one has no vectors, and that is told");
    assert_eq!(stage.paths(store, UNEMBEDDABLE).await, ["/b"], "it is found by word");
}

#[tokio::test]
async fn dropped_indexes_come_back_as_they_were() {
    let embedder: Arc<dyn Embedder> = Arc::new(WordSum::new("words-16", 16));
    let small = SearchOptions { index_bytes_max: 1, ..options(vec![embedder.clone()]) };
    let stage = Stage::searching(small).await;
    let mut stores = Vec::new();
    for name in 0..5 {
        let store = stage.store(&name.to_string()).await.id;
        for n in 0..20 {
            stage.put(store, &format!("/d/{n}"), &format!("tea cup {n} of {name}")).await;
        }
        stores.push(store);
    }
    stage.follow().await;
    let engine = stage.engine.clone().with_search(options(vec![embedder]));
    for round in 0..3 {
        for store in &stores {
            let requests = [
                asking(*store, Wanted::new(format!("cup {round}"), 10)),
                SearchRequest { reach: Reach::Everywhere, ..semantic(*store, "cup 3 of 4") },
            ];
            for request in requests {
                let whole = engine.search(&stage.admin, &request).await.unwrap();
                same(&stage.search(&request).await.hits, &whole.hits);
            }
        }
        stage.put(stores[round], "/d/3", "something else").await;
        stage.follow().await;
    }
    let status = stage.engine.embedding_status(&stage.admin).await.unwrap();
    assert_eq!((status.indexes, status.index_bytes), (0, 0), "nothing fits, nothing stays");
}

#[tokio::test]
async fn after_thousands_of_updates_an_index_answers_like_a_new_one() {
    let embedder: Arc<dyn Embedder> = Arc::new(WordSum::new("words-16", 16));
    let stage = Stage::searching(options(vec![embedder.clone()])).await;
    let store = stage.store("s").await.id;
    let words = ["tea", "cup", "river", "lamp", "cat", "violin", "green"];
    for round in 0..45u64 {
        let edits = (0..80u64).map(|n| {
            let word = |salt: u64| words[((n * 31 + round * 17 + salt * 7) % 7) as usize];
            let text = format!("{} {} {} {n}", word(1), word(round), word(3));
            Edit::put_text(MemoryPath::parse(&format!("/d{}/t{n}", n % 3)).unwrap(), text)
        });
        stage.engine.commit(&stage.admin, store, edits.collect(), "api").await.unwrap();
        // Searched every time, so that the index follows step by step.
        assert!(!stage.paths(store, "tea").await.is_empty());
        if round % 9 == 8 {
            stage.follow().await;
            stage.search(&semantic(store, "tea")).await;
        }
    }
    let fresh = stage.engine.clone().with_search(options(vec![embedder]));
    for text in ["tea", "green lamp 12", "vio*", "\"cat\" cup", "river 3 44"] {
        for mode in [Mode::Hybrid, Mode::Lexical, Mode::Semantic] {
            let request = asking(store, Wanted { mode, ..Wanted::new(text, 50) });
            let new = fresh.search(&stage.admin, &request).await.unwrap();
            same(&stage.search(&request).await.hits, &new.hits);
        }
    }
}
