//! Listing a store as it stood: what is held for it is bounded, many at once take turns, and one memory is
//! read from its own versions and is what the listing says.

use crate::stage::{Stage, full_key};
use loci_engine::search::SearchOptions;
use loci_engine::{Error, NewKey, Sieve};
use loci_model::query::{Direction, ListItem, ListOrder, ListQuery};
use loci_model::{
    At, Attributes, AttributesPatch, Audience, Edit, EditOp, Expect, MemoryId, OnSame, StoreId,
    Timestamp, View, Visibility,
};

async fn patch(stage: &Stage, store: StoreId, memory: MemoryId, attributes: Attributes) {
    let attributes = AttributesPatch::replace(attributes);
    let op = EditOp::Put { content: None, to: None, attributes };
    let edit = Edit { at: At::Id(memory), expect: Expect::Present, on_same: OnSame::Skip, op };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
}

/// A memory with this much beside its content.
async fn labelled(stage: &Stage, store: StoreId, path: &str, bytes: usize) -> MemoryId {
    let memory = stage.put(store, path, "tea").await.memory.id;
    let metadata = Some(format!("{{\"x\":\"{}\"}}", "y".repeat(bytes)));
    patch(stage, store, memory, Attributes { metadata, ..Attributes::default() }).await;
    memory
}

fn is_too_much<T: std::fmt::Debug>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Invalid(invalid)) if invalid.field == "as_of")
}

#[tokio::test]
async fn a_past_that_would_take_too_much_memory_is_not_listed() {
    let options = SearchOptions { past_bytes_max: 100_000, ..SearchOptions::default() };
    let stage = Stage::searching(options).await;
    let (large, small) = (stage.store("large").await.id, stage.store("small").await.id);
    let known = labelled(&stage, large, "/0", 10_000).await;
    for number in 1..20 {
        labelled(&stage, large, &format!("/{number}"), 10_000).await;
    }
    stage.put(small, "/a", "tea").await;
    stage.pass_secs(10);
    let (now, query) = (stage.engine.seams().now(), ListQuery::everything(View::Basic, 100));
    let list = async |store| {
        stage.engine.list_past(&stage.admin, store, now, &query, &Sieve::default()).await
    };
    assert!(is_too_much(&list(large).await), "{:?}", list(large).await);
    assert_eq!(list(small).await.unwrap().items.len(), 1);
    // One memory of it can be looked at all the same.
    let found = stage.engine.get_past(&stage.admin, large, known, now, View::Full).await;
    assert_eq!(found.unwrap().content.unwrap().text(), Some("tea"));
    // So can what can be listed of it now.
    assert_eq!(stage.engine.list(&stage.admin, large, &query).await.unwrap().items.len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_listings_of_the_past_take_turns_and_are_all_answered() {
    let options = SearchOptions { past_bytes_max: 300_000, ..SearchOptions::default() };
    let stage = Stage::searching(options).await;
    let store = stage.store("s").await.id;
    let mut moments = Vec::new();
    for number in 0..16 {
        labelled(&stage, store, &format!("/{number:02}"), 10_000).await;
        stage.pass_secs(10);
        moments.push(stage.engine.seams().now());
        stage.pass_secs(10);
    }
    // All of them together would be more than may be held.
    let asking = moments.into_iter().enumerate().map(|(number, at)| {
        let (engine, admin) = (stage.engine.clone(), stage.admin.clone());
        tokio::spawn(async move {
            let query = ListQuery::everything(View::Full, 100);
            for _ in 0..3 {
                let page =
                    engine.list_past(&admin, store, at, &query, &Sieve::default()).await.unwrap();
                assert_eq!(page.items.len(), number + 1);
            }
        })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap();
    }
}

/// Everything a listing shows, page by page.
async fn pages(stage: &Stage, store: StoreId, at: Timestamp, query: &ListQuery) -> Vec<String> {
    let (mut query, mut shown) = (query.clone(), Vec::new());
    loop {
        let answer =
            stage.engine.list_past(&stage.admin, store, at, &query, &Sieve::default()).await;
        let page = answer.unwrap();
        assert!(page.items.len() <= query.limit);
        shown.extend(page.items.iter().map(|item| match item {
            ListItem::Memory(memory) => memory.path.to_string(),
            ListItem::Directory(directory) => directory.clone(),
        }));
        query.after = page.next;
        if query.after.is_none() {
            return shown;
        }
    }
}

#[tokio::test]
async fn pages_of_the_past_make_up_the_whole_in_every_order() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    for number in 0..30 {
        let path = format!("/{}/{}/{}", number * 7 % 5, number * 11 % 3, number);
        stage.put(store, &path, "tea").await;
        stage.pass_secs(1);
    }
    let now = stage.engine.seams().now();
    for order in [ListOrder::Path, ListOrder::Created, ListOrder::Updated] {
        for direction in [Direction::Ascending, Direction::Descending] {
            // A listing by time is not folded.
            let depths: &[_] = if order == ListOrder::Path { &[None, Some(1)] } else { &[None] };
            for fold_depth in depths.iter().copied() {
                let query = |limit| ListQuery {
                    order,
                    direction,
                    fold_depth,
                    ..ListQuery::everything(View::Basic, limit)
                };
                let whole = pages(&stage, store, now, &query(1000)).await;
                assert_eq!(whole.len(), if fold_depth.is_none() { 30 } else { 5 });
                for limit in [1, 4, 7, 30] {
                    assert_eq!(pages(&stage, store, now, &query(limit)).await, whole, "{limit}");
                }
                let mut present = stage.engine.list(&stage.admin, store, &query(1000)).await;
                let items = present.as_mut().unwrap().items.drain(..);
                let present: Vec<String> = items
                    .map(|item| match item {
                        ListItem::Memory(memory) => memory.path.to_string(),
                        ListItem::Directory(directory) => directory,
                    })
                    .collect();
                assert_eq!(whole, present, "{order:?} {direction:?} {fold_depth:?}");
            }
        }
    }
}

#[tokio::test]
async fn one_memory_of_the_past_is_what_the_listing_says() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let key = NewKey { audience: Audience::Model, ..full_key("model") };
    let model = stage.enter(&stage.key(key).await.1).await;
    let moment = || stage.engine.seams().now();
    let mut moments = vec![moment()];
    let pass = || stage.pass_secs(10);
    let live = stage.put(store, "/live", "one").await.memory.id;
    let gone = stage.put(store, "/gone", "one").await.memory.id;
    let brief = stage.put(store, "/brief", "one").await.memory.id;
    let end = Some(moment().plus_secs(25));
    patch(&stage, store, brief, Attributes { expires_at: end, ..Attributes::default() }).await;
    pass();
    moments.push(moment());
    stage.put(store, "/live", "two").await;
    let hidden = Attributes { visibility: Visibility::Internal, ..Attributes::default() };
    patch(&stage, store, gone, hidden).await;
    pass();
    moments.push(moment());
    patch(&stage, store, gone, Attributes::default()).await;
    let removal = Edit::remove(At::Id(gone), Expect::Present);
    stage.engine.commit_one(&stage.admin, store, removal, "api").await.unwrap();
    pass();
    moments.push(moment());
    let query = ListQuery::everything(View::Full, 100);
    for who in [&stage.admin, &model] {
        for at in &moments {
            let list = stage.engine.list_past(who, store, *at, &query, &Sieve::default()).await;
            let listed = list.unwrap().items;
            for memory in [live, gone, brief, MemoryId::from_u128(1)] {
                let found = stage.engine.get_past(who, store, memory, *at, View::Full).await;
                let expected = listed.iter().find_map(|item| match item {
                    ListItem::Memory(listed) if listed.id == memory => Some(&**listed),
                    _ => None,
                });
                match (expected, found) {
                    (Some(expected), Ok(found)) => assert_eq!(*expected, found),
                    (None, Err(Error::NotFound("memory"))) => {}
                    other => panic!("{memory} at {at}: {other:?}"),
                }
            }
        }
    }
}
