//! Queries of every sort: phrases, prefixes, and texts that would break a query language. None may
//! fail, and punctuation may not take away what the words find. Bounds are refused by name.

use crate::stage::{Stage, asking, paths};
use loci_engine::Error;
use loci_engine::search::{
    Fusion, Mode, Reach, Recency, SearchFilter, SearchRequest, Signals, Wait, Wanted,
};
use loci_model::StoreId;
use std::time::Duration;

async fn stage() -> (Stage, StoreId) {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    for (path, text) in [
        ("/tea", "green tea in the old harbour"),
        ("/pot", "a teapot made of stoneware"),
        ("/harbour", "the harbour was green with tea"),
        ("/japan", "東京で緑茶を飲む"),
        ("/who", "the who"),
    ] {
        stage.put(store, path, text).await;
    }
    stage.follow().await;
    (stage, store)
}

#[tokio::test]
async fn phrases_stand_as_they_are_quoted() {
    let (stage, store) = stage().await;
    assert_eq!(stage.paths(store, "\"green tea\"").await, ["/tea"]);
    assert_eq!(stage.paths(store, "\"Green TEA\"").await, ["/tea"]);
    assert_eq!(stage.paths(store, "\"green with\"").await, ["/harbour"]);
    // Beside other words a phrase is no more than its words, and so is one that nobody has.
    assert_eq!(stage.paths(store, "\"green tea\" teapot").await.len(), 3);
    assert_eq!(stage.paths(store, "\"tea green\"").await.len(), 2);
    assert_eq!(stage.paths(store, "\"old harbour\" \"green tea\"").await, ["/tea"]);
    assert_eq!(stage.paths(store, "“old harbour”").await, ["/tea"]);
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let wanted = Wanted { mode, ..Wanted::new("\"green tea\"", 10) };
        assert_eq!(paths(&stage.search(&asking(store, wanted)).await), ["/tea"], "{mode:?}");
    }
}

#[tokio::test]
async fn prefixes_stand_for_every_word_that_begins_so() {
    let (stage, store) = stage().await;
    let mut found = stage.paths(store, "tea*").await;
    found.sort();
    assert_eq!(found, ["/harbour", "/pot", "/tea"]);
    assert_eq!(stage.paths(store, "stonew*").await, ["/pot"]);
    assert!(stage.paths(store, "violi*").await.is_empty());
}

#[tokio::test]
async fn scripts_without_spaces_are_found() {
    let (stage, store) = stage().await;
    assert_eq!(stage.paths(store, "緑茶").await, ["/japan"]);
    assert_eq!(stage.paths(store, "東京").await, ["/japan"]);
    assert_eq!(stage.paths(store, "茶").await, ["/japan"]);
}

#[tokio::test]
async fn odd_queries_neither_fail_nor_hide_what_words_find() {
    let (stage, store) = stage().await;
    let odd = [
        "\"",
        "?",
        "*",
        "AND OR NOT (",
        "NEAR(",
        "\0",
        "😀",
        "--",
        "' OR 1=1 --",
        "%",
        "_",
        "\\",
        "a",
        "^",
        "{}",
        "path:",
        "-",
        "+",
        ":*",
        "\"\"",
        "“",
        "\u{202e}",
        "\u{feff}",
        "\n\t",
        "\"*\"",
        "(((",
        "~2",
        "!@#$",
    ];
    for mode in [Mode::Lexical, Mode::Hybrid, Mode::Semantic] {
        for one in odd {
            for text in [format!("stoneware {one}"), format!("{one} stoneware")] {
                let wanted = Wanted { mode, ..Wanted::new(text.clone(), 10) };
                let found = paths(&stage.search(&asking(store, wanted)).await);
                let at = found.iter().position(|path| path == "/pot");
                assert!(at.is_some(), "{text:?} {mode:?}");
                assert!(at == Some(0) || mode != Mode::Lexical, "{text:?}: {found:?}");
            }
            let wanted = Wanted { mode, ..Wanted::new(one, 10) };
            match stage.engine.search(&stage.admin, &asking(store, wanted)).await {
                Ok(_) => {}
                Err(Error::Invalid(invalid)) if one.trim().is_empty() => {
                    assert_eq!(invalid.field, "query");
                }
                Err(error) => panic!("{one:?} {mode:?}: {error}"),
            }
        }
    }
}

#[tokio::test]
async fn a_query_as_long_as_it_may_be() {
    let (stage, store) = stage().await;
    for filler in ["x ", "\"", "* ", "tea ", "漢", "\"a b\" "] {
        let mut text = "stoneware ".to_owned();
        text.extend(filler.chars().cycle().take(4096 - text.chars().count()));
        assert_eq!(text.chars().count(), 4096);
        for mode in [Mode::Lexical, Mode::Hybrid, Mode::Semantic] {
            let wanted = Wanted { mode, ..Wanted::new(text.clone(), 10) };
            let answer = stage.search(&asking(store, wanted)).await;
            let is_phrase = filler.contains("a b");
            let is_found = paths(&answer).contains(&"/pot".to_owned());
            assert!(is_found || is_phrase, "{filler:?} {mode:?}");
        }
    }
}

#[tokio::test]
async fn stop_words_alone_are_looked_for_where_there_is_nothing_else() {
    let (stage, store) = stage().await;
    assert_eq!(stage.paths(store, "the who").await, ["/who"]);
    assert_eq!(stage.paths(store, "what is the harbour?").await.len(), 2);
    for mode in [Mode::Hybrid, Mode::Semantic] {
        let wanted = Wanted { mode, ..Wanted::new("was it the one?", 10) };
        assert!(!stage.search(&asking(store, wanted)).await.hits.is_empty(), "{mode:?}");
    }
}

#[tokio::test]
async fn bounds_are_refused_by_name() {
    let (stage, store) = stage().await;
    let plain = || asking(store, Wanted::new("tea", 10));
    let with = |change: &dyn Fn(&mut SearchRequest)| {
        let mut request = plain();
        change(&mut request);
        request
    };
    let many = || vec!["x".to_owned(); 65];
    let recency = |weight: f32, half_life_secs: f32| Some(Recency { weight, half_life_secs });
    let checks: Vec<(SearchRequest, &str)> = vec![
        (with(&|request| request.wanted.text = "x".repeat(4097)), "query"),
        (with(&|request| request.wanted.text = " \n".into()), "query"),
        (with(&|request| request.wanted.limit = 0), "limit"),
        (with(&|request| request.wanted.limit = 101), "limit"),
        (with(&|request| request.wanted.filter.kinds = many()), "filter.kind"),
        (with(&|request| request.wanted.filter.tags = many()), "filter.tags"),
        (
            with(&|request| {
                let metadata = many().into_iter().map(|name| (name, "1".into())).collect();
                request.wanted.filter = SearchFilter { metadata, ..SearchFilter::default() };
            }),
            "filter.metadata",
        ),
        (with(&|request| request.wanted.diversity = 1.1), "diversity"),
        (with(&|request| request.wanted.diversity = f32::NAN), "diversity"),
        (with(&|request| request.wanted.signals.importance = -0.1), "boost.importance"),
        (with(&|request| request.wanted.signals.pinned = 2.0), "boost.pinned"),
        (
            with(&|request| request.wanted.signals.recency = recency(2.0, 10.0)),
            "boost.recency.weight",
        ),
        (
            with(&|request| request.wanted.signals.recency = recency(0.5, 0.0)),
            "boost.recency.half_life_seconds",
        ),
        (
            with(&|request| {
                request.wanted.fusion = Fusion::Convex { lexical_weight: Some(1.01) };
            }),
            "fusion.lexical_weight",
        ),
        (with(&|request| request.wanted.fusion = Fusion::Rrf { k: -1.0 }), "fusion.k"),
        (with(&|request| request.snippet_chars = 1001), "snippet_chars"),
        (
            with(&|request| {
                request.wait = Some(Wait { until: None, at_most: Duration::from_secs(31) });
            }),
            "wait_seconds",
        ),
        (with(&|request| request.reach = Reach::Stores(Vec::new())), "memory_store_ids"),
        (with(&|request| request.reach = Reach::Stores(vec![store; 10_001])), "memory_store_ids"),
    ];
    for (request, field) in checks {
        match stage.engine.search(&stage.admin, &request).await {
            Err(Error::Invalid(invalid)) => assert_eq!(invalid.field, field),
            other => panic!("{field}: {other:?}"),
        }
    }
    let edge = Signals { recency: recency(1.0, 1.0), importance: 1.0, pinned: 1.0 };
    let request = with(&|request| {
        request.wanted.signals = edge;
        request.wanted.limit = 100;
        request.wanted.diversity = 1.0;
        request.wanted.fusion = Fusion::Rrf { k: 1000.0 };
        request.snippet_chars = 1000;
    });
    assert!(!stage.search(&request).await.hits.is_empty());
}
