//! Walks that take more than one batch give what one look at everything would give.

use super::world_with;
use loci_model::query::{
    Direction, Filter, ListCursor, ListItem, ListOrder, ListQuery, VersionQuery,
};
use loci_model::{At, Content, Edit, MemoryId, PrincipalId, StorePolicy, Timestamp, View};
use loci_storage::{AsOf, TextPage};
use loci_storage_contract::fixture::{
    World, all_versions, item_text, next_bits, put, put_in, tagged, with_attributes,
};
use std::collections::BTreeSet;

const MIB: usize = 1024 * 1024;

async fn write_all(world: &World, edits: Vec<Edit>) {
    for edits in edits.chunks(100) {
        world.commit(edits.to_vec()).await.unwrap();
    }
}

/// All pages of a listing.
async fn pages(world: &World, query: &ListQuery) -> Vec<ListItem> {
    let mut query = query.clone();
    let mut items = Vec::new();
    loop {
        let page = world.storage.list(&world.read_pass(), &query).await.unwrap();
        assert!(page.items.len() <= query.limit);
        items.extend(page.items);
        match page.next {
            None => return items,
            next => query.after = next,
        }
    }
}

fn ids(items: &[ListItem]) -> Vec<MemoryId> {
    let memory = |item: &ListItem| match item {
        ListItem::Memory(memory) => memory.id,
        ListItem::Directory(name) => panic!("{name}"),
    };
    items.iter().map(memory).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_of_every_size_are_folded() {
    let (world, _database) = world_with(StorePolicy::default()).await;
    let mut edits = Vec::new();
    let mut expected = BTreeSet::new();
    for directory in 0..30 {
        for file in 0..[1, 2, 17, 40, 3][directory % 5] {
            edits.push(put(&format!("/d{directory:02}/sub/{file}"), "x"));
            expected.insert(format!("/d{directory:02}/"));
        }
        edits.push(put(&format!("/d{directory:02}-beside"), "x"));
        expected.insert(format!("/d{directory:02}-beside"));
    }
    write_all(&world, edits).await;
    let mut expected: Vec<String> = expected.into_iter().collect();
    for direction in [Direction::Ascending, Direction::Descending] {
        for (limit, view) in [(1, View::Basic), (7, View::Full), (100, View::Full)] {
            let query =
                ListQuery { fold_depth: Some(1), direction, ..ListQuery::everything(view, limit) };
            let items = pages(&world, &query).await;
            let texts: Vec<String> = items.iter().map(item_text).collect();
            assert_eq!(texts, expected, "{direction:?} in pages of {limit}");
            let is_as_asked = |item: &ListItem| match item {
                ListItem::Memory(memory) => memory.content.is_some() == (view == View::Full),
                ListItem::Directory(_) => true,
            };
            assert!(items.iter().all(is_as_asked));
        }
        expected.reverse();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rare_tags_are_found_in_every_order() {
    let (world, _database) = world_with(StorePolicy::default()).await;
    let edit = |n: usize| {
        let edit = put(&format!("/{}", (n * 7919) % 700), "x");
        if n.is_multiple_of(97) { with_attributes(edit, tagged(&["rare", "x"])) } else { edit }
    };
    write_all(&world, (0..700).map(edit).collect()).await;
    let rare = Filter { tags: vec!["rare".into()], ..Filter::default() };
    let everything = pages(&world, &ListQuery::everything(View::Basic, 1000)).await;
    for order in [ListOrder::Path, ListOrder::Created, ListOrder::Updated] {
        for direction in [Direction::Ascending, Direction::Descending] {
            let mut expected = everything.clone();
            expected
                .retain(|item| matches!(item, ListItem::Memory(memory) if rare.matches(memory)));
            assert_eq!(expected.len(), 8);
            expected.sort_by_key(|item| match item.cursor(order) {
                ListCursor::Time(at, id) => (at, String::new(), id),
                ListCursor::Memory(path, id) => (Timestamp::from_micros(0), path.to_string(), id),
                ListCursor::Directory(name) => panic!("{name:?}"),
            });
            if direction == Direction::Descending {
                expected.reverse();
            }
            let query = ListQuery {
                order,
                direction,
                filter: rare.clone(),
                ..ListQuery::everything(View::Basic, 3)
            };
            assert_eq!(pages(&world, &query).await, expected, "{order:?} {direction:?}");
        }
    }
    let first = world.storage.get(&world.read_pass(), &At::First(rare), View::Full).await;
    let first = first.unwrap().unwrap();
    assert_eq!((first.path.as_str(), first.content), ("/0", Some(Content::Text("x".into()))));
    let none = Filter { tags: vec!["none".into()], ..Filter::default() };
    let first = world.storage.get(&world.read_pass(), &At::First(none), View::Basic).await;
    assert_eq!(first.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_path_in_many_partitions_goes_by_id() {
    let (world, _database) = world_with(StorePolicy::default()).await;
    let partition = || PrincipalId::from_u128(next_bits());
    let mut edits: Vec<Edit> = (0..40).map(|_| put_in(partition(), "/same", "x")).collect();
    edits.extend((0..5).map(|n| put(&format!("/before{n}"), "x")));
    edits.extend((0..5).map(|n| put(&format!("/same{n}"), "x")));
    write_all(&world, edits).await;
    let whole = pages(&world, &ListQuery::everything(View::Basic, 1000)).await;
    let same = &ids(&whole)[5..45];
    assert!(same.is_sorted());
    assert!(whole[5..45].iter().all(|item| item_text(item) == "/same"));
    for limit in [1, 7, 30] {
        let mut query = ListQuery::everything(View::Full, limit);
        assert_eq!(ids(&pages(&world, &query).await), ids(&whole));
        query.direction = Direction::Descending;
        let mut backwards = ids(&pages(&world, &query).await);
        backwards.reverse();
        assert_eq!(backwards, ids(&whole));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_large_texts_are_short() {
    let policy = StorePolicy { content_bytes_max: 1 << 20, ..StorePolicy::default() };
    let (world, _database) = world_with(policy).await;
    let mut made = Vec::new();
    for n in 0..11 {
        made.push(world.put(&format!("/{n}"), &n.to_string().repeat(MIB)[..MIB]).await.id);
    }
    let (search, read) = (world.search_pass(), world.read_pass());
    let ids = |page: &TextPage| page.memories.iter().map(|memory| memory.id).collect::<Vec<_>>();
    let first = world.storage.texts(&search, world.store, 0, 100).await.unwrap();
    assert_eq!(ids(&first), made[..8], "as many as eight megabytes are");
    let rest = world.storage.texts(&search, world.store, first.next.unwrap(), 100).await.unwrap();
    assert_eq!((ids(&rest), rest.next), (made[8..].to_vec(), None));
    let first = world.storage.texts_at(&read, AsOf::Seq(11), 0, 100).await.unwrap();
    assert_eq!(ids(&first).len(), 8);
    let next = first.next.unwrap();
    let rest = world.storage.texts_at(&read, AsOf::Seq(11), next, 100).await.unwrap();
    assert_eq!((rest.memories.len(), rest.next), (3, None));
    let mut after = 0;
    let mut changed = Vec::new();
    for through in [8, 11, 11] {
        let step = world.storage.changed_texts(&search, world.store, after, 100).await.unwrap();
        assert_eq!(step.through, through);
        assert!(step.memories.iter().all(|(_, memory)| memory.is_some()));
        changed.extend(step.memories.into_iter().map(|(id, _)| id));
        after = step.through;
    }
    assert_eq!(changed, made);
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_in_time_find_every_moment() {
    let (world, _database) = world_with(StorePolicy::default()).await;
    for n in 0..25 {
        world.put("/a", &n.to_string()).await;
    }
    let feed = world.feed().await;
    let seqs = async |query: VersionQuery| {
        let page = world.storage.versions(&world.read_pass(), &query).await.unwrap();
        page.items.iter().map(|version| version.seq).collect::<Vec<_>>()
    };
    let expected = |is_listed: &dyn Fn(Timestamp) -> bool| {
        let listed = feed.iter().rev().filter(|change| is_listed(change.at));
        listed.map(|change| change.seq).collect::<Vec<_>>()
    };
    for change in &feed {
        for shift in [-1, 0, 1] {
            let moment = Timestamp::from_micros(change.at.as_micros() + shift);
            for memory in [None, Some(change.memory)] {
                let all = VersionQuery { memory, ..all_versions() };
                let until = VersionQuery { until: Some(moment), ..all.clone() };
                assert_eq!(seqs(until).await, expected(&|at| at <= moment));
                let since = VersionQuery { since: Some(moment), ..all };
                assert_eq!(seqs(since).await, expected(&|at| at >= moment));
            }
        }
    }
}
