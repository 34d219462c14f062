//! Listings of memories: order, folding, cursors, filters.

use super::fixture::*;
use loci_model::query::{Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery};
use loci_model::{Page, PathPrefix, PrincipalId, View};
use loci_storage::Storage;
use std::sync::Arc;

type Db = Arc<dyn Storage>;

const TREE: [&str; 9] =
    ["/a", "/b/1", "/b/2/x", "/b/2/y", "/b.txt", "/b0", "/c/d/e/f", "/é/1", "/z"];

async fn tree(db: Db) -> World {
    let world = World::new(db).await;
    for path in TREE {
        world.put(path, path).await;
    }
    world
}

fn query() -> ListQuery {
    ListQuery::everything(View::Basic, 1000)
}

fn texts(page: &Page<ListItem, ListCursor>) -> Vec<String> {
    page.items.iter().map(item_text).collect()
}

/// The paths below a prefix.
pub(crate) async fn under(world: &World, prefix: &str) -> Vec<String> {
    let prefix = PathPrefix::parse(prefix).unwrap();
    let items = world.list(&ListQuery { prefix, ..query() }).await;
    items.iter().map(item_text).collect()
}

/// Walks all pages of each size and checks that they join to the whole.
async fn assert_pages_join(world: &World, query: &ListQuery) -> Vec<String> {
    let pass = world.read_pass();
    let whole = world.storage.list(&pass, query).await.unwrap();
    assert_eq!(whole.next, None);
    for limit in 1..=whole.items.len() + 1 {
        let mut step = ListQuery { limit, ..query.clone() };
        let mut joined = Vec::new();
        loop {
            let page = world.storage.list(&pass, &step).await.unwrap();
            assert!(page.items.len() <= limit);
            joined.extend(page.items);
            let Some(next) = page.next else { break };
            step.after = Some(next);
        }
        let joined: Vec<String> = joined.iter().map(item_text).collect();
        assert_eq!(joined, texts(&whole), "pages of {limit}");
    }
    texts(&whole)
}

pub async fn memories_come_in_the_byte_order_of_their_paths(db: Db) {
    let world = tree(db).await;
    let mut expected = TREE.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(assert_pages_join(&world, &query()).await, expected);
    let down = ListQuery { direction: Direction::Descending, ..query() };
    expected.reverse();
    assert_eq!(assert_pages_join(&world, &down).await, expected);
}

pub async fn a_prefix_matches_whole_segments(db: Db) {
    let world = tree(db).await;
    assert_eq!(under(&world, "/b/").await, ["/b/1", "/b/2/x", "/b/2/y"]);
    assert_eq!(under(&world, "/b/2/").await, ["/b/2/x", "/b/2/y"]);
    assert_eq!(under(&world, "/é/").await, ["/é/1"]);
    assert!(under(&world, "/a/").await.is_empty());
    assert!(under(&world, "/nothing/").await.is_empty());
}

pub async fn a_prefix_pages_in_both_directions(db: Db) {
    let world = tree(db).await;
    for direction in [Direction::Ascending, Direction::Descending] {
        let prefix = PathPrefix::parse("/b/").unwrap();
        let below = ListQuery { prefix, direction, ..query() };
        assert_eq!(assert_pages_join(&world, &below).await.len(), 3);
    }
}

pub async fn folding_shows_directories_between_memories(db: Db) {
    let world = tree(db).await;
    let folded = ListQuery { fold_depth: Some(1), ..query() };
    let mut expected = vec!["/a", "/b.txt", "/b/", "/b0", "/c/", "/z", "/é/"];
    assert_eq!(assert_pages_join(&world, &folded).await, expected);
    let down = ListQuery { direction: Direction::Descending, ..folded };
    expected.reverse();
    assert_eq!(assert_pages_join(&world, &down).await, expected);
}

pub async fn folding_counts_levels_from_the_prefix(db: Db) {
    let world = tree(db).await;
    let two = ListQuery { fold_depth: Some(2), ..query() };
    let expected = ["/a", "/b.txt", "/b/1", "/b/2/", "/b0", "/c/d/", "/z", "/é/1"];
    assert_eq!(assert_pages_join(&world, &two).await, expected);
    let prefix = PathPrefix::parse("/b/").unwrap();
    let below = ListQuery { prefix, fold_depth: Some(1), ..query() };
    assert_eq!(assert_pages_join(&world, &below).await, ["/b/1", "/b/2/"]);
}

pub async fn folding_skips_past_large_directories(db: Db) {
    let world = World::new(db).await;
    let edits = (0..90).map(|n| put(&format!("/big/{}/{n}", n % 3), "x")).collect();
    world.commit(edits).await.unwrap();
    world.put("/zz", "x").await;
    for direction in [Direction::Ascending, Direction::Descending] {
        let folded = ListQuery { fold_depth: Some(1), direction, ..query() };
        assert_eq!(assert_pages_join(&world, &folded).await.len(), 2);
        let prefix = PathPrefix::parse("/big/").unwrap();
        let below = ListQuery { prefix, ..folded };
        assert_eq!(assert_pages_join(&world, &below).await.len(), 3);
    }
}

pub async fn a_directory_without_anything_to_show_is_not_shown(db: Db) {
    let world = World::new(db).await;
    world.put("/gone/x", "x").await;
    world.edit(remove("/gone/x")).await.unwrap();
    world.put_with("/other/x", "x", of_kind("other")).await;
    world.put_with("/over/x", "x", until(world.in_secs(2))).await;
    world.put_with("/shown/x", "x", of_kind("fact")).await;
    world.move_clock(10);
    let filter = Filter { kind: Some("fact".into()), ..Filter::default() };
    let folded = ListQuery { fold_depth: Some(1), ..query() };
    assert_eq!(assert_pages_join(&world, &folded).await, ["/other/", "/shown/"]);
    let facts = ListQuery { filter, ..folded };
    assert_eq!(assert_pages_join(&world, &facts).await, ["/shown/"]);
}

pub async fn memories_come_by_creation_and_by_last_change(db: Db) {
    let world = World::new(db).await;
    for path in ["/c", "/a", "/b"] {
        world.put(path, "one").await;
    }
    world.put("/a", "two").await;
    world.put("/c", "two").await;
    for (order, expected) in
        [(ListOrder::Created, ["/c", "/a", "/b"]), (ListOrder::Updated, ["/b", "/a", "/c"])]
    {
        let up = ListQuery { order, ..query() };
        assert_eq!(assert_pages_join(&world, &up).await, expected);
        let down = ListQuery { direction: Direction::Descending, ..up };
        let mut reversed = expected.to_vec();
        reversed.reverse();
        assert_eq!(assert_pages_join(&world, &down).await, reversed);
    }
}

pub async fn orders_by_time_obey_the_prefix(db: Db) {
    let world = World::new(db).await;
    for path in ["/d/z", "/other", "/d/a"] {
        world.put(path, "x").await;
    }
    let prefix = PathPrefix::parse("/d/").unwrap();
    let by_creation = ListQuery { prefix, order: ListOrder::Created, ..query() };
    assert_eq!(assert_pages_join(&world, &by_creation).await, ["/d/z", "/d/a"]);
}

pub async fn filters_add_up(db: Db) {
    let world = World::new(db).await;
    let mut both = tagged(&["red", "big"]);
    both.kind = Some("fact".into());
    both.source = Some("crm".into());
    both.scope = Some("team".into());
    world.put_with("/all", "x", both).await;
    world.put_with("/red", "x", tagged(&["red"])).await;
    world.put_with("/fact", "x", of_kind("fact")).await;
    world.put("/plain", "x").await;
    let cases = [
        (Filter { kind: Some("fact".into()), ..Filter::default() }, vec!["/all", "/fact"]),
        (Filter { tags: vec!["red".into()], ..Filter::default() }, vec!["/all", "/red"]),
        (Filter { tags: vec!["red".into(), "big".into()], ..Filter::default() }, vec!["/all"]),
        (Filter { tags: vec!["re".into()], ..Filter::default() }, vec![]),
        (Filter { source: Some("crm".into()), ..Filter::default() }, vec!["/all"]),
        (Filter { scope: Some("team".into()), ..Filter::default() }, vec!["/all"]),
        (
            Filter { kind: Some("fact".into()), tags: vec!["big".into()], ..Filter::default() },
            vec!["/all"],
        ),
    ];
    for (filter, expected) in cases {
        for order in [ListOrder::Path, ListOrder::Created] {
            let filtered = ListQuery { filter: filter.clone(), order, ..query() };
            assert_eq!(assert_pages_join(&world, &filtered).await, expected);
        }
    }
}

pub async fn partitions_can_be_listed_apart(db: Db) {
    let world = World::new(db).await;
    let one = PrincipalId::from_u128(1);
    let two = PrincipalId::from_u128(2);
    let edits = vec![
        put("/a", "x"),
        put_in(one, "/a", "x"),
        put_in(two, "/a", "x"),
        put_in(one, "/b/c", "x"),
    ];
    world.commit(edits).await.unwrap();
    for direction in [Direction::Ascending, Direction::Descending] {
        let all = ListQuery { direction, ..query() };
        assert_eq!(assert_pages_join(&world, &all).await.len(), 4);
    }
    let items = world.list(&query()).await;
    let ids = items.iter().filter_map(|item| match item {
        ListItem::Memory(memory) => Some((memory.path.clone(), memory.id)),
        ListItem::Directory(_) => None,
    });
    assert!(ids.is_sorted(), "equal paths come by id");
    for (partition, expected) in [(None, vec!["/a"]), (Some(one), vec!["/a", "/b/c"])] {
        let filter = Filter { partition: Some(partition), ..Filter::default() };
        let of_one = ListQuery { filter, ..query() };
        assert_eq!(assert_pages_join(&world, &of_one).await, expected);
    }
}

pub async fn a_page_goes_on_where_it_stopped_whatever_changed(db: Db) {
    let world = World::new(db).await;
    for path in ["/a", "/b", "/c", "/d"] {
        world.put(path, "x").await;
    }
    let first = ListQuery { limit: 2, ..query() };
    let page = world.storage.list(&world.read_pass(), &first).await.unwrap();
    assert_eq!(texts(&page), ["/a", "/b"]);
    world.edit(remove("/b")).await.unwrap();
    world.put("/aa", "x").await;
    world.put("/bb", "x").await;
    let rest = ListQuery { after: page.next, ..query() };
    let page = world.storage.list(&world.read_pass(), &rest).await.unwrap();
    assert_eq!(texts(&page), ["/bb", "/c", "/d"]);
}

pub async fn an_empty_store_lists_nothing(db: Db) {
    let world = World::new(db).await;
    for fold_depth in [None, Some(1)] {
        let folded = ListQuery { fold_depth, ..query() };
        let page = world.storage.list(&world.read_pass(), &folded).await;
        assert_eq!(page.unwrap(), Page { items: vec![], next: None });
    }
}
