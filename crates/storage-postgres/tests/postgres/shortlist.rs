//! Searching a store where it lies: what was put is found by word and by vector, by those who may find
//! it, as long as it is there; and a database without pgvector says that it cannot.

use loci_model::{Attributes, Memory, MemoryId, PathPrefix, StoreId, Visibility};
use loci_storage::{
    Generation, GenerationId, Lookup, LookupFilter, Mutation, Receipt, Shortlist, Sought,
    VectorBatch, VectorSource,
};
use loci_storage_contract::fixture::{World, describe, remove, rename, shown_as, until, update};
use loci_storage_postgres::{PostgresOptions, PostgresStorage};
use loci_test_postgres::{Build, Database};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::NoTls;

async fn world(build: Build) -> (Database, World, GenerationId) {
    let database = Database::fresh(&build.url().unwrap(), None).await.unwrap();
    let patience = Duration::from_secs(20);
    let options = PostgresOptions { patience, ..PostgresOptions::new(database.url()) };
    let storage = PostgresStorage::open(&options, 1).await.unwrap();
    let world = World::new(Arc::new(storage)).await;
    let generation = open_generation(&world).await.id;
    (database, world, generation)
}

async fn open_generation(world: &World) -> Generation {
    let open =
        Mutation::OpenGeneration { model: "m".into(), dims: 3, is_fresh: true, now: world.now() };
    match world.write(open).await.unwrap() {
        Receipt::Generation(generation) => generation,
        other => panic!("{other:?}"),
    }
}

/// Three numbers as they are kept.
fn vector(numbers: [f32; 3]) -> Vec<u8> {
    numbers.iter().flat_map(|number| half::f16::from_f32(*number).to_le_bytes()).collect()
}

/// Gives a memory its words and vectors, as the follower would.
async fn put(
    world: &World,
    of: GenerationId,
    memory: &Memory,
    words: &[&str],
    source: VectorSource,
) {
    let batch = VectorBatch {
        workspace: world.workspace,
        generation: of,
        store: world.store,
        through: 0,
        vectors: vec![(memory.head, source)],
        words: vec![(memory.head, words.iter().map(|word| (*word).to_owned()).collect())],
    };
    world.write(Mutation::PutVectors(batch)).await.unwrap();
}

async fn put_made(world: &World, of: GenerationId, memory: &Memory, words: &[&str], at: [f32; 3]) {
    put(world, of, memory, words, VectorSource::Made(vector(at))).await;
}

fn by_word(generation: GenerationId, words: &[&str]) -> Lookup {
    let sought = |word: &&str| Sought {
        key: (*word).to_owned(),
        terms: vec![word.trim_end_matches('*').to_owned()],
        beginning: word.strip_suffix('*').map(str::to_owned),
    };
    let words = words.iter().map(sought).collect();
    Lookup { words, ..Lookup::new(generation, 100, 10) }
}

fn by_vector(generation: GenerationId, vector: [f32; 3]) -> Lookup {
    Lookup { vector: Some(vector.to_vec()), ..Lookup::new(generation, 100, 10) }
}

async fn found(world: &World, lookup: &Lookup) -> Shortlist {
    let pass = world.search_pass();
    world.storage.shortlist(&pass, world.store, lookup).await.unwrap().unwrap()
}

fn ids(found: &Shortlist) -> Vec<MemoryId> {
    found.memories.iter().map(|memory| memory.id).collect()
}

/// The database itself, as its owner sees it.
async fn owner(database: &Database) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Rows of words and passages, of all tenants.
async fn rows(database: &Database, generation: GenerationId) -> i64 {
    let client = owner(database).await;
    let sql = format!(
        "select (select count(*) from loci.word) + (select count(*) from loci.passage_{})",
        generation.0
    );
    client.query_one(&sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn without_the_extension_there_is_no_shortlist() {
    let (_database, world, generation) = world(Build::Floor).await;
    let memory = world.put("/a", "green tea").await;
    put_made(&world, generation, &memory, &["green", "tea"], [1.0, 0.0, 0.0]).await;
    let pass = world.search_pass();
    let storage = &world.storage;
    let size = storage.shortlistable(&pass, world.store, generation).await.unwrap();
    assert_eq!(size, None);
    let lookup = by_word(generation, &["tea"]);
    assert_eq!(storage.shortlist(&pass, world.store, &lookup).await.unwrap(), None);
    world.assert_sound().await;
}

#[tokio::test]
async fn pgvector_finds_by_word_and_by_vector() {
    let (_database, world, generation) = world(Build::Current).await;
    let mut memories = Vec::new();
    for n in 0..30 {
        // Each in a directory of its own, so that nobody comes along as a neighbour.
        let memory = world.put(&format!("/{n}/x"), &format!("text {n}")).await;
        let angle = n as f32 / 30.0;
        let words = [if n % 3 == 0 { "tea" } else { "coffee" }, &*format!("w'o\\rd{n}")];
        put_made(&world, generation, &memory, &words, [angle.cos(), angle.sin(), 0.0]).await;
        memories.push(memory);
    }
    let pass = world.search_pass();
    let size = world.storage.shortlistable(&pass, world.store, generation).await.unwrap();
    assert_eq!(size, Some(30));

    let one = found(&world, &by_word(generation, &["w'o\\rd7"])).await;
    assert_eq!(ids(&one), [memories[7].id]);
    assert_eq!(one.memories[0].content.as_ref().unwrap().text(), Some("text 7"));
    assert_eq!(one.holding["w'o\\rd7"], 1);
    let tea = found(&world, &by_word(generation, &["tea", "nothing"])).await;
    assert_eq!(tea.memories.len(), 10);
    assert_eq!((tea.holding["tea"], tea.holding["nothing"]), (10, 0));
    // The rarer word counts for more, and a beginning for all that begin like it.
    let both = found(&world, &by_word(generation, &["coffee", "w'o\\rd8"])).await;
    assert_eq!(both.memories[0].id, memories[8].id);
    let begun = found(&world, &by_word(generation, &["w'o\\rd2*"])).await;
    assert_eq!(begun.memories.len(), 11);
    assert_eq!(begun.holding["w'o\\rd2*"], 11);
    let mut lookup = by_word(generation, &["tea"]);
    lookup.phrases = vec![vec!["coffee".into(), "w'o\\rd8".into()]];
    assert_eq!(found(&world, &lookup).await.memories[0].id, memories[8].id);

    let near = found(&world, &by_vector(generation, [1.0, 0.0, 0.0])).await;
    assert_eq!(ids(&near)[..3], [memories[0].id, memories[1].id, memories[2].id]);
    let far = found(&world, &by_vector(generation, [0.0, 1.0, 0.0])).await;
    assert_eq!(far.memories[0].id, memories[29].id);
    world.assert_sound().await;
}

#[tokio::test]
async fn pgvector_brings_neighbours_along() {
    let (_database, world, generation) = world(Build::Current).await;
    for n in 5..15 {
        for directory in ["/talk", "/talk/deeper", "/talks"] {
            let memory = world.put(&format!("{directory}/turn_{n}"), "said").await;
            let word = if n == 9 && directory == "/talk" { "word" } else { "said" };
            put_made(&world, generation, &memory, &[word], [1.0, 0.0, 0.0]).await;
        }
    }
    let found = found(&world, &by_word(generation, &["word"])).await;
    let mut paths: Vec<&str> = found.memories.iter().map(|memory| memory.path.as_str()).collect();
    assert_eq!(paths[0], "/talk/turn_9");
    paths.sort_by_key(|path| path.len());
    paths[..3].sort_unstable();
    // Two on each side, as people count.
    let expected = [7, 8, 9, 10, 11].map(|n| format!("/talk/turn_{n}"));
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn pgvector_follows_what_becomes_of_a_memory() {
    let (database, world, generation) = world(Build::Current).await;
    let (x, y) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let tea = || by_word(generation, &["tea"]);
    let first = world.put("/a", "green tea").await;
    put_made(&world, generation, &first, &["green", "tea"], x).await;
    assert_eq!(rows(&database, generation).await, 2);

    // Moved: the same vectors under other words.
    let moved = world.edit(rename(first.id, "/drinks/a")).await.unwrap().memory;
    let source = VectorSource::SameAs(first.head);
    put(&world, generation, &moved, &["drinks", "green", "tea"], source).await;
    assert_eq!(rows(&database, generation).await, 2);
    for lookup in [tea(), by_word(generation, &["drinks"]), by_vector(generation, x)] {
        assert_eq!(ids(&found(&world, &lookup).await), [first.id]);
    }

    // Rewritten: what it said before is nowhere, even if it is said again, late.
    let second = world.edit(update(first.id, "black coffee")).await.unwrap().memory;
    put_made(&world, generation, &second, &["black", "coffee"], y).await;
    put_made(&world, generation, &moved, &["green", "tea"], x).await;
    assert_eq!(rows(&database, generation).await, 2);
    assert!(found(&world, &tea()).await.memories.is_empty());
    assert_eq!(ids(&found(&world, &by_word(generation, &["coffee"])).await), [first.id]);

    // A redaction takes the words of the version it takes the text of.
    let third = world.edit(update(first.id, "water")).await.unwrap().memory;
    world.write(Mutation::Redact(world.manage_pass(), second.head)).await.unwrap();
    assert_eq!(rows(&database, generation).await, 0);
    put_made(&world, generation, &third, &["water"], x).await;
    world.edit(remove("/drinks/a")).await.unwrap();
    assert!(found(&world, &by_word(generation, &["water"])).await.memories.is_empty());
    assert!(found(&world, &by_vector(generation, x)).await.memories.is_empty());
    world.assert_sound().await;
}

#[tokio::test]
async fn pgvector_shows_nobody_what_is_not_theirs_to_find() {
    let (_database, world, generation) = world(Build::Current).await;
    let x = [1.0, 0.0, 0.0];
    let shown = world.put("/1/shown", "tea").await;
    let hidden = world.put_with("/2/hidden", "tea", shown_as(Visibility::Internal)).await;
    let over = world.put_with("/3/over", "tea", until(world.in_secs(5))).await;
    for memory in [&shown, &hidden, &over] {
        put_made(&world, generation, memory, &["tea"], x).await;
    }
    let (host, model) = (world.search_pass(), world.model_search_pass().await);
    world.move_clock(60);
    let later = world.model_search_pass().await;
    for (pass, expected) in [(&host, 3), (&model, 2), (&later, 1)] {
        for lookup in [by_word(generation, &["tea"]), by_vector(generation, x)] {
            let found = world.storage.shortlist(pass, world.store, &lookup).await.unwrap().unwrap();
            assert_eq!(found.memories.len(), expected, "{lookup:?}");
            let held = found.holding.get("tea").copied().unwrap_or(expected as u64);
            assert_eq!(held, expected as u64);
        }
    }
    world.edit(describe(shown.id, shown_as(Visibility::Internal))).await.unwrap();
    let lookup = by_word(generation, &["tea"]);
    let found = world.storage.shortlist(&model, world.store, &lookup).await.unwrap().unwrap();
    assert_eq!(ids(&found), [over.id]);
    assert_eq!(found.holding.get("tea"), Some(&1), "what was hidden is not counted either");
    let elsewhere = StoreId::from_u128(99);
    assert!(world.storage.shortlist(&host, elsewhere, &lookup).await.is_err());
}

#[tokio::test]
async fn pgvector_leaves_no_rows_behind() {
    let (database, world, generation) = world(Build::Current).await;
    let memory = world.put("/a", "tea").await;
    put_made(&world, generation, &memory, &["tea"], [1.0, 0.0, 0.0]).await;
    let next = open_generation(&world).await.id;
    put_made(&world, next, &memory, &["tea"], [0.0, 1.0, 0.0]).await;
    assert_eq!(rows(&database, next).await, 2);
    let dropped = Mutation::DropGeneration { generation, limit: 100 };
    assert_eq!(world.write(dropped).await.unwrap(), Receipt::Purged { is_done: true });
    let pass = world.search_pass();
    let storage = &world.storage;
    assert_eq!(storage.shortlistable(&pass, world.store, generation).await.unwrap(), None);
    assert_eq!(storage.shortlistable(&pass, world.store, next).await.unwrap(), Some(1));
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    let purge = Mutation::PurgeStore { pass: world.manage_pass(), limit: 10 };
    world.write(purge).await.unwrap();
    assert_eq!(rows(&database, next).await, 0);
}

#[tokio::test]
async fn pgvector_forgets_what_was_removed_when_the_mark_goes_by() {
    let (database, world, generation) = world(Build::Current).await;
    let (gone, stays) = (world.put("/a", "tea").await, world.put("/b", "tea").await);
    for memory in [&gone, &stays] {
        put_made(&world, generation, memory, &["tea"], [1.0, 0.0, 0.0]).await;
    }
    assert_eq!(rows(&database, generation).await, 4);
    world.edit(remove("/a")).await.unwrap();
    let through = world.storage.feed_ends(&world.search_pass()).await.unwrap()[0].seq;
    let batch = VectorBatch {
        workspace: world.workspace,
        generation,
        store: world.store,
        through,
        vectors: Vec::new(),
        words: Vec::new(),
    };
    world.write(Mutation::PutVectors(batch)).await.unwrap();
    assert_eq!(rows(&database, generation).await, 2);
    let left = found(&world, &by_word(generation, &["tea"])).await;
    assert_eq!((ids(&left), left.holding["tea"]), (vec![stays.id], 1));
    // Late words of what is gone are not taken.
    put_made(&world, generation, &gone, &["tea"], [1.0, 0.0, 0.0]).await;
    assert_eq!(found(&world, &by_word(generation, &["tea"])).await.holding["tea"], 1);
    world.assert_sound().await;
}

#[tokio::test]
async fn pgvector_filters_where_candidates_are_picked() {
    let (_database, world, generation) = world(Build::Current).await;
    let x = [1.0, 0.0, 0.0];
    let attributes = Attributes {
        kind: Some("fact".into()),
        tags: vec!["100%_\\ \"odd\"".into()],
        source: Some("chat".into()),
        scope: Some("team".into()),
        metadata: Some(r#"{"n":1,"o\"dd":2}"#.into()),
        ..Attributes::default()
    };
    let wanted = world.put_with("/a/b/wanted", "tea", attributes).await;
    put_made(&world, generation, &wanted, &["tea"], x).await;
    for n in 0..150 {
        let other = world.put(&format!("/o{n}/x"), "tea").await;
        put_made(&world, generation, &other, &["tea"], x).await;
    }
    let none = LookupFilter::default;
    let at = wanted.created_at;
    let prefix = PathPrefix::parse("/a/b/").unwrap();
    let filters = [
        LookupFilter { prefixes: vec![prefix.clone()], ..none() },
        LookupFilter { prefixes: vec![PathPrefix::parse("/nowhere/").unwrap(), prefix], ..none() },
        LookupFilter { kinds: vec!["x".into(), "fact".into()], ..none() },
        LookupFilter { tags: vec!["100%_\\ \"odd\"".into()], ..none() },
        LookupFilter { source: Some("chat".into()), ..none() },
        LookupFilter { scope: Some("team".into()), ..none() },
        LookupFilter { created: (Some(at), Some(at)), ..none() },
        LookupFilter { updated: (None, Some(at)), ..none() },
        LookupFilter { metadata: vec!["n".into(), "o\"dd".into()], ..none() },
    ];
    for filter in filters {
        for compared_max in [0, 1000] {
            for lookup in [by_word(generation, &["tea"]), by_vector(generation, x)] {
                let lookup = Lookup { filter: filter.clone(), compared_max, ..lookup };
                let found = found(&world, &lookup).await;
                assert_eq!(found.memories[0].id, wanted.id, "{lookup:?}");
                // By word, what is passed over comes along for those who lie beside it.
                assert!(found.memories.len() == 1 || lookup.vector.is_none());
                let held = found.holding.get("tea").copied();
                assert!(held.is_none_or(|held| held == 151), "words are worth what they were");
            }
        }
    }
    let filter = LookupFilter { tags: vec!["nowhere".into()], ..none() };
    let nothing = Lookup { filter, ..by_vector(generation, x) };
    assert!(found(&world, &nothing).await.memories.is_empty());
}

#[tokio::test]
async fn pgvector_finds_the_same_by_its_index_as_one_by_one() {
    let (_database, world, generation) = world(Build::Current).await;
    for n in 0..400 {
        let memory = world.put(&format!("/{n}/x"), "text").await;
        let (a, b) = (n as f32 * 0.61, n as f32 * 0.37);
        put_made(&world, generation, &memory, &["text"], [a.cos(), a.sin(), b.sin()]).await;
    }
    let (mut same, mut all) = (0, 0);
    for turn in 0..20 {
        let angle = turn as f32 * 0.3;
        let near = Lookup {
            memories: 400,
            ..by_vector(generation, [angle.cos(), angle.sin(), angle.cos() / 2.0])
        };
        let exact = found(&world, &near).await;
        let by_index = found(&world, &Lookup { compared_max: 0, ..near }).await;
        assert_eq!(exact.vectors.len(), exact.memories.len());
        assert!(exact.vectors.iter().all(Option::is_some));
        let best = ids(&by_index)[..10].to_vec();
        same += ids(&exact)[..10].iter().filter(|id| best.contains(id)).count();
        all += 10;
    }
    // The index is a good guess: one of a hundred may be missed.
    assert!(same * 100 >= all * 99, "{same} of {all}");
}

#[tokio::test]
async fn pgvector_rows_of_nothing_are_reported() {
    let (database, world, generation) = world(Build::Current).await;
    let (first, other) = (world.put("/a", "tea").await, world.put("/b", "coffee").await);
    for memory in [&first, &other] {
        put_made(&world, generation, memory, &["tea"], [1.0, 0.0, 0.0]).await;
    }
    world.assert_sound().await;
    let client = owner(&database).await;
    let passages = format!("passage_{}", generation.0);
    for (table, what) in [("word", "words"), (passages.as_str(), "passages")] {
        // A number that no version has, then one that is another memory's.
        for seq in ["900", "(select max(seq) from loci.version)"] {
            let memory = uuid::Uuid::from_bytes(first.id.to_bytes());
            let damage = format!("update loci.{table} set seq = {seq} where memory_id = $1");
            client.execute(&damage, &[&memory]).await.unwrap();
            let problems = world.storage.check().await.unwrap().problems;
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].ends_with(&format!("it has {what} though it has no text")));
        }
        let repair = format!("update loci.{table} set seq = 1 where seq > 1 and memory_id = $1");
        let memory = uuid::Uuid::from_bytes(first.id.to_bytes());
        client.execute(&repair, &[&memory]).await.unwrap();
        world.assert_sound().await;
    }
}
