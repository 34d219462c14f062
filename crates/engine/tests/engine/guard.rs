//! Search-only access: few results, not too often, and every look written down.

use crate::stage::{Stage, asking};
use loci_engine::knowledge::Seek;
use loci_engine::search::{Mode, Reach, SearchRequest, Wait, Wanted};
use loci_engine::{Context, Error, NewGrant};
use loci_model::event::{LogEnd, kind};
use loci_model::{Grantee, Level, MemoryId, limit};
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test]
async fn what_others_share_costs_a_search_of_everything_only_so_much() {
    let stage = Stage::new().await;
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    for n in 0..limit::GUARDED_STORES_MAX + 3 {
        let store = stage.store(&format!("s{n}")).await.id;
        stage.put(store, "/1", "tea").await;
        let grant = NewGrant { grantee, level: Level::Search, expires_at: None };
        stage.engine.share(&stage.admin, store, grant).await.unwrap();
    }
    let nowhere = loci_model::StoreId::from_u128(0);
    let reach = Reach::Everywhere;
    let request = SearchRequest { reach, ..asking(nowhere, Wanted::new("tea", 100)) };
    let answer = stage.engine.search(&agent, &request).await.unwrap();
    assert_eq!((answer.hits.len(), answer.left_out), (limit::GUARDED_STORES_MAX, 3));
    let events = stage.engine.events(&stage.admin, 0, 1000).await.unwrap();
    let searched = events.iter().filter(|event| event.kind == kind::SEARCHED).count();
    assert_eq!(searched, limit::GUARDED_STORES_MAX);
}

// The clock goes on when everybody waits, so the taking back comes while the search waits.
#[tokio::test(start_paused = true)]
async fn what_is_taken_back_while_a_search_waits_is_not_found_by_it() {
    let (stage, _) = Stage::with_vectors().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/1", "tea").await;
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    for (reach, is_refused) in [(Reach::Store(store), true), (Reach::Everywhere, false)] {
        let grant = NewGrant { grantee, level: Level::Read, expires_at: None };
        let grant = stage.engine.share(&stage.admin, store, grant).await.unwrap().grant;
        // Nobody makes vectors here, so it waits as long as it may.
        let wait = Some(Wait { until: None, at_most: Duration::from_millis(300) });
        let request = SearchRequest { reach, wait, ..asking(store, Wanted::new("tea", 10)) };
        let taking_back = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            stage.engine.revoke(&stage.admin, store, grant.id).await.unwrap();
        };
        let (found, ()) = tokio::join!(stage.engine.search(&agent, &request), taking_back);
        match found {
            Err(Error::NotFound(_)) => assert!(is_refused),
            found => assert!(!is_refused && found.unwrap().hits.is_empty()),
        }
    }
}

#[tokio::test]
async fn a_store_that_may_only_be_searched_cannot_be_copied_by_searching() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    for n in 0..2 * limit::GUARDED_RESULTS_MAX {
        stage.put(store, &format!("/{n}"), "tea").await;
    }
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    let grant = NewGrant { grantee, level: Level::Search, expires_at: None };
    stage.engine.share(&stage.admin, store, grant).await.unwrap();
    let request = asking(store, Wanted::new("tea", 100));
    let searched = async || {
        let events = stage.engine.events(&stage.admin, 0, 1000).await.unwrap();
        events.iter().filter(|event| event.kind == kind::SEARCHED).count()
    };
    for n in 1..=limit::GUARDED_SEARCHES_PER_MINUTE as usize {
        let answer = stage.engine.search(&agent, &request).await.unwrap();
        assert_eq!(answer.hits.len(), limit::GUARDED_RESULTS_MAX);
        assert_eq!(searched().await, n);
    }
    let refused = stage.engine.search(&agent, &request).await;
    assert!(matches!(refused, Err(Error::TooMany { .. })));
    assert_eq!(stage.search(&request).await.hits.len(), 20, "others are not held up");
    let everywhere = SearchRequest { reach: Reach::Everywhere, ..request.clone() };
    let rest = stage.engine.search(&agent, &everywhere).await.unwrap();
    assert_eq!((rest.hits.len(), rest.left_out), (0, 1), "left out, and it says so");
    let among = SearchRequest { reach: Reach::Among(vec![store, store]), ..request.clone() };
    let rest = stage.engine.search(&agent, &among).await.unwrap();
    assert_eq!((rest.hits.len(), rest.left_out), (0, 1), "among some that were not asked for");
    assert_eq!(searched().await, limit::GUARDED_SEARCHES_PER_MINUTE as usize);
    stage.pass_secs(60);
    stage.engine.search(&agent, &request).await.unwrap();

    let events = stage.engine.events(&stage.admin, 0, 1000).await.unwrap();
    let mut end = LogEnd::default();
    for event in &events {
        assert!(event.follows(end), "{event:?}");
        end = event.end();
    }
    let last = events.last().unwrap();
    assert_eq!((last.kind.as_str(), last.store), (kind::SEARCHED, Some(store)));
    assert_eq!((last.principal, last.detail.as_deref()), (agent.caller.principal, Some("tea")));
    assert!(stage.engine.events(&agent, 0, 10).await.is_err(), "the log is the administrator's");
}

#[tokio::test]
async fn a_day_gives_so_many_memories_and_a_question_counts_like_a_search() {
    const PER_DAY: u32 = 15;
    let Stage { engine, clock, start, admin } = Stage::new().await;
    let engine = engine.with_guarded_searches(1000, PER_DAY);
    let stage = Stage { engine, clock, start, admin };
    let store = stage.store("s").await.id;
    for n in 0..30 {
        stage.put(store, &format!("/{n}"), &format!("tea number{n}")).await;
    }
    let seeker = async |name: &str| {
        let agent = stage.somebody(name).await;
        let grantee = Grantee::Principal(agent.caller.principal);
        let grant = NewGrant { grantee, level: Level::Search, expires_at: None };
        stage.engine.share(&stage.admin, store, grant).await.unwrap();
        agent
    };
    // One memory after another is asked for by the word that only it has.
    let look = async |agent: &Context, seen: &mut BTreeSet<MemoryId>, asks: bool, first: u32| {
        for n in 0..30 {
            let text = format!("number{}", (first + n) % 30);
            let hits = match asks {
                true => {
                    let seek = Seek::new(Reach::Store(store), text);
                    stage.engine.seek(agent, &seek).await.unwrap().episodes
                }
                false => {
                    let wanted = Wanted { mode: Mode::Lexical, ..Wanted::new(text, 10) };
                    stage.engine.search(agent, &asking(store, wanted)).await.unwrap().hits
                }
            };
            seen.extend(hits.into_iter().map(|hit| hit.memory.id));
        }
    };
    for (name, asks_first) in [("agent", false), ("other", true)] {
        let agent = seeker(name).await;
        let mut seen = BTreeSet::new();
        look(&agent, &mut seen, asks_first, 0).await;
        assert_eq!(seen.len(), PER_DAY as usize, "{name}: each principal gets as many");
        look(&agent, &mut seen, !asks_first, PER_DAY).await;
        assert_eq!(
            seen.len(),
            PER_DAY as usize,
            "{name}: no others on that day, whatever is asked"
        );
        stage.pass_secs(86_400);
        look(&agent, &mut seen, asks_first, PER_DAY).await;
        assert!(seen.len() > PER_DAY as usize, "{name}: the next day gives others");
    }
}

#[tokio::test]
async fn a_question_gives_pieces_of_what_may_only_be_searched() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let text =
        format!("{} The harbour closes at nine. {}", "Dull. ".repeat(200), "More. ".repeat(200));
    stage.put(store, "/harbour", &text).await;
    let agent = stage.somebody("agent").await;
    let grantee = Grantee::Principal(agent.caller.principal);
    let question = "When does the harbour close?";
    for (level, is_whole) in [(Level::Search, false), (Level::Read, true)] {
        let grant = NewGrant { grantee, level, expires_at: None };
        stage.engine.share(&stage.admin, store, grant).await.unwrap();
        let seek = Seek::new(Reach::Store(store), question.to_owned());
        let known = stage.engine.seek(&agent, &seek).await.unwrap();
        let hits = stage.engine.cut_to_snippets(&agent, question, known.episodes).await.unwrap();
        let [hit] = hits.as_slice() else { panic!("{hits:?}") };
        assert_eq!(hit.memory.content.is_some(), is_whole);
        let piece = &hit.snippet.text;
        let is_piece = piece.contains("harbour") && piece.len() < text.len() / 2;
        assert_eq!(is_piece, !is_whole, "{piece}");
    }
}
