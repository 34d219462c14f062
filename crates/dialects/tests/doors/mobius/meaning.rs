//! Search by meaning: what it finds, how much of the memory it covers, and that it says when it
//! cannot.

use crate::mobius::world::{A, B, World, fields, keys};
use serde_json::json;
use std::sync::atomic::Ordering;

const SEARCH: &str = "memory/entries?query=banana&search_mode";

#[tokio::test]
async fn the_nearest_comes_first_and_coverage_is_told() {
    let world = World::new().await;
    let agent = format!("{B}/ada");
    world.save(&agent, "far", "zzz xyz").await;
    world.save(&agent, "near", "bananas").await;
    world.follow().await;
    for mode in ["semantic", "hybrid"] {
        let page = world.get(&format!("{agent}/{SEARCH}={mode}")).await;
        assert_eq!(keys(&page)[0], "near", "{mode}");
        let whole = json!({"indexed_entries": 2, "total_entries": 2, "complete": true});
        assert_eq!(page["search_coverage"], whole, "{mode}");
        assert_eq!(fields(&page), ["has_more", "items", "search_coverage"]);
    }
    world.put(&agent, "new", json!({"content": "banana", "user_id": "u1"})).await.ok();
    let page = world.get(&format!("{agent}/{SEARCH}=semantic")).await;
    let part = json!({"indexed_entries": 2, "total_entries": 3, "complete": false});
    assert_eq!(page["search_coverage"], part);
    world.follow().await;
    assert_eq!(world.keys(&format!("{agent}/{SEARCH}=semantic")).await[0], "new");
    // Users' entries are not there where there are no users.
    let shared = world.get(&format!("{A}/ada/{SEARCH}=semantic")).await;
    assert!(!keys(&shared).contains(&"new".to_owned()));
    assert_eq!(shared["search_coverage"]["total_entries"], 2);
}

#[tokio::test]
async fn found_entries_come_in_pages_and_by_kind() {
    let world = World::new().await;
    let agent = format!("{A}/ada");
    for number in 0..7 {
        let kind = ["fact", "episode"][number % 2];
        let body = json!({"content": "banana ".repeat(number + 1), "kind": kind});
        world.put(&agent, &format!("k{number}"), body).await.ok();
    }
    world.follow().await;
    let all = world.keys(&format!("{agent}/{SEARCH}=semantic")).await;
    assert_eq!(all.len(), 7);
    let (mut joined, mut cursor) = (Vec::new(), String::new());
    loop {
        let url = format!("{agent}/{SEARCH}=semantic&limit=3&cursor={cursor}");
        let page = world.get(&url).await;
        joined.extend(keys(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(joined, all);
    for (kind, count) in [("fact", 4), ("episode", 3), ("summary", 0)] {
        let page = world.get(&format!("{agent}/{SEARCH}=hybrid&kind={kind}")).await;
        assert_eq!(keys(&page).len(), count, "{kind}");
        assert_eq!(page["search_coverage"]["total_entries"], 7, "before the filter");
    }
}

#[tokio::test]
async fn words_are_never_passed_off_as_meaning() {
    for has_embedder in [false, true] {
        let world = World::with_embedder(has_embedder).await;
        let agent = format!("{A}/ada");
        if !has_embedder {
            let nobody = format!("{agent}/{SEARCH}=semantic");
            let refused = world.ask("GET", &nobody, None).await;
            refused.refused(503, "memory_semantic_search_unavailable");
        }
        world.save(&agent, "k", "banana").await;
        world.follow().await;
        world.letters.fails.store(true, Ordering::Relaxed);
        for mode in ["semantic", "hybrid"] {
            let refused = world.ask("GET", &format!("{agent}/{SEARCH}={mode}"), None).await;
            let refused = refused.refused(503, "memory_semantic_search_unavailable");
            assert_eq!(refused.headers["retry-after"], "0");
        }
        assert_eq!(world.keys(&format!("{agent}/{SEARCH}=keyword")).await, ["k"]);
    }
}
