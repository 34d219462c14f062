//! Vectors: rows that follow the feed, belong to versions that have their text, and go with it.

use super::fixture::*;
use super::redact::erase;
use loci_model::policy::SearchPass;
use loci_model::{MemoryPath, StoreId, StorePolicy, VersionId, Visibility, WorkspaceId, limit};
use loci_storage::log::ImportItem;
use loci_storage::{
    EmbedPage, Embeddable, Generation, GenerationId, Mutation, Receipt, Result,
    SAME_AS_REVISIONS_MAX, Storage, StorageError, VectorBatch, VectorLag, VectorSource,
};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

const DIMS: u32 = 2;

/// One vector made of one number.
fn made(byte: u8) -> VectorSource {
    VectorSource::Made(vec![byte; 4])
}

async fn open(world: &World, model: &str, is_fresh: bool) -> Generation {
    let now = world.now();
    let open = Mutation::OpenGeneration { model: model.into(), dims: DIMS, is_fresh, now };
    match world.write(open).await.unwrap() {
        Receipt::Generation(generation) => generation,
        other => panic!("{other:?}"),
    }
}

async fn put_batch(world: &World, batch: VectorBatch) -> Result<u64> {
    match world.write(Mutation::PutVectors(batch)).await? {
        Receipt::VectorsPut(count) => Ok(count),
        other => panic!("{other:?}"),
    }
}

/// Puts vectors into the world's store; how many were kept.
async fn put_vectors(
    world: &World,
    generation: GenerationId,
    through: u64,
    vectors: Vec<(VersionId, VectorSource)>,
) -> u64 {
    let batch = VectorBatch {
        workspace: world.workspace,
        generation,
        store: world.store,
        through,
        vectors,
        words: Vec::new(),
    };
    put_batch(world, batch).await.unwrap()
}

async fn vectors_for(
    world: &World,
    pass: &SearchPass,
    generation: GenerationId,
    versions: &[VersionId],
) -> Vec<Option<u8>> {
    let vectors = world.storage.vectors(pass, world.store, generation, versions).await.unwrap();
    vectors.into_iter().map(|bytes| bytes.map(|bytes| bytes[0])).collect()
}

/// The first byte of each version's vectors.
async fn vectors(
    world: &World,
    generation: GenerationId,
    versions: &[VersionId],
) -> Vec<Option<u8>> {
    vectors_for(world, &world.search_pass(), generation, versions).await
}

async fn marks(world: &World) -> Vec<(GenerationId, u64)> {
    let mut ends = world.storage.feed_ends(&world.search_pass()).await.unwrap();
    ends.remove(0).vectors
}

async fn embeddable(
    world: &World,
    generation: GenerationId,
    after: u64,
    limit: usize,
) -> EmbedPage {
    let pass = world.search_pass();
    let page = world.storage.embeddable(&pass, world.store, generation, after, limit).await;
    page.unwrap()
}

async fn drop_some(world: &World, generation: GenerationId, limit: usize) -> bool {
    match world.write(Mutation::DropGeneration { generation, limit }).await.unwrap() {
        Receipt::Purged { is_done } => is_done,
        other => panic!("{other:?}"),
    }
}

pub async fn a_generation_is_taken_up_again_by_the_same_model(db: Db) {
    let world = World::new(db).await;
    assert!(world.storage.generations().await.unwrap().is_empty());
    let first = open(&world, "small", false).await;
    assert_eq!((first.model.as_str(), first.dims), ("small", DIMS));
    assert_eq!(open(&world, "small", false).await, first);
    let fresh = open(&world, "small", true).await;
    assert!(fresh.id > first.id);
    let other = open(&world, "large", false).await;
    let back = open(&world, "small", false).await;
    assert!(back.id > other.id, "only the newest is taken up");
    let all = world.storage.generations().await.unwrap();
    assert_eq!(all, [first, fresh, other, back.clone()]);
    let (model, now) = ("small".to_owned(), world.now());
    let wider = Mutation::OpenGeneration { model, dims: DIMS + 1, is_fresh: false, now };
    let Receipt::Generation(wider) = world.write(wider).await.unwrap() else { panic!() };
    assert!(wider.id > back.id, "another width is another generation");
}

pub async fn a_generation_that_breaks_a_rule_is_refused(db: Db) {
    let world = World::new(db).await;
    let wide = u32::try_from(limit::VECTOR_DIMS_MAX).unwrap() + 1;
    let long = "x".repeat(1000);
    for (model, dims) in [("m", 0), ("m", wide), ("", DIMS), (long.as_str(), DIMS)] {
        let (model, now) = (model.to_owned(), world.now());
        let open = Mutation::OpenGeneration { model, dims, is_fresh: false, now };
        assert_refused!(world.write(open).await, StorageError::Invalid(_));
    }
    assert!(world.storage.generations().await.unwrap().is_empty());
}

pub async fn the_number_of_a_generation_is_never_given_again(db: Db) {
    let world = World::new(db).await;
    let first = open(&world, "m", false).await.id;
    assert!(drop_some(&world, first, 10).await);
    assert!(world.storage.generations().await.unwrap().is_empty());
    assert!(open(&world, "m", false).await.id > first);
}

pub async fn vectors_come_back_as_they_were_written(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let a = world.put("/a", "x").await.head;
    let b = world.put("/b", "y").await.head;
    let passages: Vec<u8> = (0..12).collect();
    let batch = vec![(a, VectorSource::Made(passages.clone())), (b, made(7))];
    assert_eq!(put_vectors(&world, generation, 2, batch).await, 2);
    let unknown = VersionId::from_u128(next_bits());
    let pass = world.search_pass();
    let found = world.storage.vectors(&pass, world.store, generation, &[b, unknown, a, b]).await;
    assert_eq!(found.unwrap(), [Some(vec![7; 4]), None, Some(passages), Some(vec![7; 4])]);
    assert_eq!(put_vectors(&world, generation, 2, vec![(a, made(9))]).await, 1);
    assert_eq!(vectors(&world, generation, &[a]).await, [Some(9)], "the last ones count");
    assert_eq!(world.storage.check().await.unwrap().vectors, 2);
    world.assert_sound().await;
}

pub async fn generations_never_mix(db: Db) {
    let world = World::new(db).await;
    let one = open(&world, "m", false).await.id;
    let two = open(&world, "m", true).await.id;
    let a = world.put("/a", "x").await.head;
    put_vectors(&world, one, 1, vec![(a, made(1))]).await;
    assert_eq!(vectors(&world, two, &[a]).await, [None]);
    assert_eq!(embeddable(&world, two, 0, 10).await.texts.len(), 1);
    put_vectors(&world, two, 1, vec![(a, made(2))]).await;
    assert_eq!(vectors(&world, one, &[a]).await, [Some(1)]);
    assert_eq!(vectors(&world, two, &[a]).await, [Some(2)]);
    assert_eq!(marks(&world).await, [(one, 1), (two, 1)]);
}

pub async fn vectors_of_the_wrong_size_are_refused_whole(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let a = world.put("/a", "x").await.head;
    let b = world.put("/b", "y").await.head;
    for bytes in [0, 1, 3, 6, 4 * (limit::PASSAGES_MAX + 1)] {
        let pair = vec![(a, made(1)), (b, VectorSource::Made(vec![0; bytes]))];
        let batch = VectorBatch {
            workspace: world.workspace,
            generation,
            store: world.store,
            through: 2,
            vectors: pair,
            words: Vec::new(),
        };
        assert_refused!(put_batch(&world, batch).await, StorageError::Invalid(_));
    }
    let many = vec![(a, made(1)); limit::VECTOR_BATCH_MAX + 1];
    let batch = VectorBatch {
        workspace: world.workspace,
        generation,
        store: world.store,
        through: 2,
        vectors: many,
        words: Vec::new(),
    };
    assert_refused!(put_batch(&world, batch).await, StorageError::Invalid(_));
    assert_eq!(vectors(&world, generation, &[a, b]).await, [None, None]);
    assert!(marks(&world).await.is_empty());
}

pub async fn words_come_with_vectors_or_alone_within_limits(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let a = world.put("/a", "green tea").await.head;
    let blank = world.put("/b", " ").await.head;
    let batch = |through, words| VectorBatch {
        workspace: world.workspace,
        generation,
        store: world.store,
        through,
        vectors: vec![(a, made(1))],
        words,
    };
    let long = "x".repeat(limit::INDEX_WORD_BYTES_MAX + 1);
    let heavy = vec!["x".repeat(limit::INDEX_WORD_BYTES_MAX); 1 + limit::INDEX_BYTES_MAX / 1024];
    for words in [
        vec![(a, vec![long])],
        vec![(a, heavy)],
        vec![(a, vec![String::new(); limit::INDEX_WORDS_MAX + 1])],
        vec![(a, Vec::new()); limit::VECTOR_BATCH_MAX + 1],
    ] {
        assert_refused!(put_batch(&world, batch(2, words)).await, StorageError::Invalid(_));
    }
    assert!(marks(&world).await.is_empty());
    // Versions that get no vectors, that are named twice or that are not there hold nothing up.
    let nowhere = VersionId::from_u128(next_bits());
    let words = |word: &str| vec![word.to_owned(), "it's \\ a 'word'".to_owned()];
    let all = [(blank, "b"), (a, "tea"), (nowhere, "x"), (a, "tea")];
    let all = all.map(|(version, word)| (version, words(word))).to_vec();
    for _ in 0..2 {
        assert_eq!(put_batch(&world, batch(2, all.clone())).await.unwrap(), 1);
    }
    assert_eq!(marks(&world).await, [(generation, 2)]);
    world.assert_sound().await;
}

pub async fn vectors_stay_in_their_workspace(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let a = world.put("/a", "x").await.head;
    let workspace = WorkspaceId::from_u128(next_bits());
    world.write(Mutation::CreateWorkspace(workspace, world.now())).await.unwrap();
    let vectors = vec![(a, made(1))];
    let batch = VectorBatch {
        workspace,
        generation,
        store: world.store,
        through: 1,
        vectors,
        words: Vec::new(),
    };
    assert_eq!(put_batch(&world, batch).await.unwrap(), 0);
    assert_eq!(self::vectors(&world, generation, &[a]).await, [None]);
    assert!(marks(&world).await.is_empty());
}

pub async fn what_is_gone_takes_no_vectors(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let a = world.put("/a", "x").await.head;
    let nothing = |generation, store| VectorBatch {
        workspace: world.workspace,
        generation,
        store,
        through: 1,
        vectors: vec![(a, made(1))],
        words: Vec::new(),
    };
    let unknown = GenerationId(generation.0 + 9);
    assert_eq!(put_batch(&world, nothing(unknown, world.store)).await.unwrap(), 0);
    let nowhere = StoreId::from_u128(next_bits());
    assert_eq!(put_batch(&world, nothing(generation, nowhere)).await.unwrap(), 0);
    let other = world.new_store(StorePolicy::default()).await.id;
    assert_eq!(put_batch(&world, nothing(generation, other)).await.unwrap(), 0, "not its version");
    assert!(marks(&world).await.is_empty());
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    assert_eq!(put_batch(&world, nothing(generation, world.store)).await.unwrap(), 0);
    assert!(world.storage.vector_lags(unknown, 10).await.unwrap().is_empty());
}

pub async fn versions_without_text_take_no_vectors(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let redacted = world.put("/a", "x").await.head;
    let kept = world.put("/a", "y").await.head;
    world.write(Mutation::Redact(world.manage_pass(), redacted)).await.unwrap();
    let sealed = world.edit(put_sealed("/sealed", b"z")).await.unwrap().memory.head;
    world.put("/b", "z").await;
    world.edit(remove("/b")).await.unwrap();
    let deleted = world.history().await.last().unwrap().id;
    let erased = world.put("/c", "w").await;
    erase(&world, erased.id).await.unwrap();
    let versions = [redacted, sealed, deleted, erased.head, kept];
    let batch = versions.map(|version| (version, made(5))).to_vec();
    assert_eq!(put_vectors(&world, generation, 99, batch).await, 1);
    assert_eq!(vectors(&world, generation, &versions).await, [None, None, None, None, Some(5)]);
    let end = world.feed().await.len() as u64;
    assert_eq!(marks(&world).await, [(generation, end)], "they need no vectors");
    world.assert_sound().await;
}

pub async fn marks_go_forward_and_no_further_than_the_feed(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    for n in 0..3 {
        world.put(&format!("/{n}"), "x").await;
    }
    assert!(marks(&world).await.is_empty());
    for (through, expected) in [(2, 2), (1, 2), (0, 2), (99, 3), (3, 3)] {
        put_vectors(&world, generation, through, vec![]).await;
        assert_eq!(marks(&world).await, [(generation, expected)]);
    }
    world.put("/4", "x").await;
    assert_eq!(marks(&world).await, [(generation, 3)]);
}

pub async fn stores_that_are_behind_are_named(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let lags = async |limit| world.storage.vector_lags(generation, limit).await.unwrap();
    assert!(lags(10).await.is_empty(), "an empty store lacks nothing");
    for n in 0..3 {
        world.put(&format!("/{n}"), "x").await;
    }
    let other = world.new_store(StorePolicy::default()).await.id;
    let pass = world.system().write(world.workspace, other, world.owner, world.now());
    world.commit_as(pass, vec![put("/1", "a"), put("/2", "b")]).await.unwrap();
    let here = VectorLag { workspace: world.workspace, store: world.store, through: 0, end: 3 };
    let there = VectorLag { workspace: world.workspace, store: other, through: 0, end: 2 };
    assert_eq!(lags(10).await, [there, here], "those least behind first");
    assert_eq!(lags(1).await, [there]);
    put_vectors(&world, generation, 2, vec![]).await;
    let here = VectorLag { through: 2, ..here };
    assert_eq!(lags(10).await, [here, there]);
    put_vectors(&world, generation, 3, vec![]).await;
    assert_eq!(lags(10).await, [there]);
    world
        .write(Mutation::RemoveStore(world.system().manage(world.workspace, other, world.now())))
        .await
        .unwrap();
    assert!(lags(10).await.is_empty());
    let fresh = open(&world, "m", true).await.id;
    assert_eq!(world.storage.vector_lags(fresh, 10).await.unwrap().len(), 1);
}

pub async fn heads_without_vectors_are_embeddable(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let nothing = EmbedPage { through: 0, texts: vec![] };
    assert_eq!(embeddable(&world, generation, 0, 10).await, nothing);
    world.put("/a", "old").await;
    let a = world.put("/a", "new").await.head;
    let b = world.put("/b", "text").await.head;
    let needs = |version, path: &str, text: &str| Embeddable {
        version,
        text: text.into(),
        path: MemoryPath::parse(path).unwrap(),
        names: Vec::new(),
        same_as: None,
    };
    let (needs_a, needs_b) = (|| needs(a, "/a", "new"), || needs(b, "/b", "text"));
    let page = embeddable(&world, generation, 0, 10).await;
    assert_eq!(page, EmbedPage { through: 3, texts: vec![needs_a(), needs_b()] });
    let page = embeddable(&world, generation, 0, 1).await;
    assert_eq!(page, EmbedPage { through: 1, texts: vec![needs_a()] });
    put_vectors(&world, generation, 2, vec![(a, made(1))]).await;
    let page = embeddable(&world, generation, 0, 10).await;
    assert_eq!(page, EmbedPage { through: 3, texts: vec![needs_b()] });
    world.edit(remove("/b")).await.unwrap();
    assert!(embeddable(&world, generation, 0, 10).await.texts.is_empty());
    assert_eq!(embeddable(&world, generation, 4, 10).await.through, 4);
}

pub async fn hidden_expired_and_sealed_memories_give_no_vectors(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let over = world.put_with("/over", "w", until(world.in_secs(9))).await;
    let internal = world.put_with("/in", "x", shown_as(Visibility::Internal)).await;
    let shown = world.put("/out", "y").await;
    let turned = world.put("/turned", "z").await;
    world.edit(put_sealed("/sealed", b"secret")).await.unwrap();
    let heads = [over.head, internal.head, shown.head, turned.head];
    put_vectors(&world, generation, 5, heads.map(|head| (head, made(1))).to_vec()).await;
    world.edit(describe(turned.id, shown_as(Visibility::Internal))).await.unwrap();
    let model = world.model_search_pass().await;
    let one = Some(1);
    assert_eq!(vectors(&world, generation, &heads).await, [one, one, one, one]);
    assert_eq!(vectors_for(&world, &model, generation, &heads).await, [one, None, one, None]);
    world.move_clock(20);
    let model = world.model_search_pass().await;
    assert_eq!(vectors(&world, generation, &heads).await, [None, one, one, one]);
    assert_eq!(vectors_for(&world, &model, generation, &heads).await, [None, None, one, None]);
    let fresh = open(&world, "m", true).await.id;
    let texts = async |pass: &SearchPass| {
        let page = world.storage.embeddable(pass, world.store, fresh, 0, 10).await.unwrap();
        assert_eq!(page.through, 6);
        page.texts.into_iter().map(|needed| needed.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(&world.search_pass()).await, ["x", "y", "z"]);
    assert_eq!(texts(&model).await, ["y"]);
}

pub async fn only_the_pass_opens_vectors(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let here = world.put("/a", "x").await.head;
    put_vectors(&world, generation, 1, vec![(here, made(1))]).await;
    let other = world.new_store(StorePolicy::default()).await.id;
    let elsewhere = world.system().search(world.workspace, vec![other], world.now());
    let storage = &world.storage;
    let refused = storage.vectors(&elsewhere, world.store, generation, &[here]).await;
    assert_refused!(refused, StorageError::NotFound(_));
    let refused = storage.embeddable(&elsewhere, world.store, generation, 0, 10).await;
    assert_refused!(refused, StorageError::NotFound(_));
    let found = storage.vectors(&elsewhere, other, generation, &[here]).await.unwrap();
    assert_eq!(found, [None], "a version of another store");
}

pub async fn the_same_content_keeps_its_vectors(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let first = world.put("/a", "x").await;
    put_vectors(&world, generation, 1, vec![(first.head, made(3))]).await;
    let pinned = world.edit(pin(first.id)).await.unwrap().memory.head;
    let page = embeddable(&world, generation, 1, 10).await;
    assert_eq!(page.texts[0].same_as, Some(first.head));
    let copy = vec![(pinned, VectorSource::SameAs(first.head))];
    assert_eq!(put_vectors(&world, generation, 2, copy).await, 1);
    assert_eq!(vectors(&world, generation, &[first.head, pinned]).await, [Some(3), Some(3)]);
    world.put("/a", "y").await;
    let page = embeddable(&world, generation, 2, 10).await;
    assert_eq!(page.texts[0].same_as, None);
    world.put("/a", "x").await;
    let page = embeddable(&world, generation, 2, 10).await;
    assert_eq!(page.texts[0].same_as, Some(pinned), "the newest of them");
    world.write(Mutation::Redact(world.manage_pass(), first.head)).await.unwrap();
    assert_eq!(vectors(&world, generation, &[first.head, pinned]).await, [None, Some(3)]);
    world.assert_sound().await;
}

pub async fn the_same_content_is_looked_for_nearby(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let first = world.put("/a", "x").await;
    put_vectors(&world, generation, 1, vec![(first.head, made(3))]).await;
    for n in 1..SAME_AS_REVISIONS_MAX {
        world.put("/a", &format!("other {n}")).await;
    }
    world.put("/a", "x").await;
    let page = embeddable(&world, generation, 0, 100).await;
    assert_eq!(page.texts[0].same_as, Some(first.head));
    world.put("/a", "one too far").await;
    world.put("/a", "x").await;
    let page = embeddable(&world, generation, 0, 100).await;
    assert_eq!(page.texts[0].same_as, None);
}

pub async fn a_copy_of_nothing_holds_the_mark(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let first = world.put("/a", "x").await;
    put_vectors(&world, generation, 1, vec![(first.head, made(3))]).await;
    let second = world.edit(pin(first.id)).await.unwrap().memory.head;
    let other = world.put("/b", "other").await.head;
    world.write(Mutation::Redact(world.manage_pass(), first.head)).await.unwrap();
    let batch = vec![(second, VectorSource::SameAs(first.head)), (other, made(4))];
    assert_eq!(put_vectors(&world, generation, 3, batch).await, 1);
    assert_eq!(vectors(&world, generation, &[second, other]).await, [None, Some(4)]);
    assert_eq!(marks(&world).await, [(generation, 1)]);
    let page = embeddable(&world, generation, 1, 10).await;
    assert_eq!(page.texts.len(), 1);
    assert_eq!((page.texts[0].version, page.texts[0].same_as), (second, None));
    let stranger = vec![(second, VectorSource::SameAs(other))];
    assert_eq!(put_vectors(&world, generation, 4, stranger).await, 0, "another content");
    assert_eq!(put_vectors(&world, generation, 4, vec![(second, made(5))]).await, 1);
    assert_eq!(marks(&world).await, [(generation, 4)]);
}

pub async fn vectors_go_with_what_is_scrubbed(db: Db) {
    let world = World::new(db).await;
    let generations = [open(&world, "m", false).await.id, open(&world, "m", true).await.id];
    let old = world.put("/a", "canary").await.head;
    let new = world.put("/a", "clean").await.head;
    let erased = world.put("/b", "canary").await;
    let removed = world.put("/c", "kept").await.head;
    let versions = [old, new, erased.head, removed];
    for generation in generations {
        let batch = versions.map(|version| (version, made(6))).to_vec();
        assert_eq!(put_vectors(&world, generation, 4, batch).await, 4);
    }
    world.edit(remove("/c")).await.unwrap();
    world.write(Mutation::Redact(world.manage_pass(), old)).await.unwrap();
    erase(&world, erased.id).await.unwrap();
    for generation in generations {
        let left = vectors(&world, generation, &versions).await;
        assert_eq!(left, [None, Some(6), None, Some(6)], "what was only removed has a past");
    }
    assert_eq!(world.storage.check().await.unwrap().vectors, 4);
    world.assert_sound().await;
}

pub async fn vectors_go_with_their_store(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let heads = [world.put("/a", "x").await.head, world.put("/b", "y").await.head];
    put_vectors(&world, generation, 2, heads.map(|head| (head, made(1))).to_vec()).await;
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    for is_last in [false, true] {
        let purge = Mutation::PurgeStore { pass: world.manage_pass(), limit: 1 };
        assert_eq!(world.write(purge).await.unwrap(), Receipt::Purged { is_done: is_last });
    }
    assert!(drop_some(&world, generation, 0).await, "nothing is left to drop");
    world.assert_sound().await;
}

pub async fn a_generation_is_dropped_in_steps(db: Db) {
    let world = World::new(db).await;
    let old = open(&world, "m", false).await.id;
    let kept = open(&world, "m", true).await.id;
    let mut heads = Vec::new();
    for n in 0..5 {
        heads.push(world.put(&format!("/{n}"), "x").await.head);
    }
    for generation in [old, kept] {
        let batch = heads.iter().map(|head| (*head, made(1))).collect();
        put_vectors(&world, generation, 5, batch).await;
    }
    let left = async |generation| {
        let vectors = vectors(&world, generation, &heads).await;
        vectors.iter().flatten().count()
    };
    assert!(!drop_some(&world, old, 2).await);
    assert_eq!((left(old).await, left(kept).await), (3, 5));
    assert_eq!(world.storage.generations().await.unwrap().len(), 2);
    assert!(!drop_some(&world, old, 2).await);
    assert!(drop_some(&world, old, 2).await);
    assert_eq!((left(old).await, left(kept).await), (0, 5));
    let generations = world.storage.generations().await.unwrap();
    assert_eq!(generations.iter().map(|one| one.id).collect::<Vec<_>>(), [kept]);
    assert_eq!(marks(&world).await, [(kept, 5)]);
    assert!(drop_some(&world, old, 2).await, "a second time changes nothing");
    assert_eq!(put_vectors(&world, old, 5, vec![(heads[0], made(1))]).await, 0);
    world.assert_sound().await;
}

pub async fn an_imported_store_begins_without_vectors(db: Db) {
    let world = World::new(db).await;
    let generation = open(&world, "m", false).await.id;
    let head = world.put("/a", "x").await.head;
    put_vectors(&world, generation, 1, vec![(head, made(1))]).await;
    let store = world.facts(world.owner).await.store;
    let log = world.storage.log(&world.admin_pass(), world.store, 0, 10).await.unwrap();
    assert_eq!(marks(&world).await, [(generation, 1)]);
    world.write(Mutation::RemoveStore(world.manage_pass())).await.unwrap();
    let purge = Mutation::PurgeStore { pass: world.manage_pass(), limit: 10 };
    world.write(purge).await.unwrap();
    let mut items = vec![ImportItem::Store(Box::new(store))];
    items.extend(log.into_iter().map(|entry| ImportItem::Entry(world.store, entry)));
    world.write(Mutation::Import(world.admin_pass(), items)).await.unwrap();
    assert_eq!(vectors(&world, generation, &[head]).await, [None]);
    assert!(marks(&world).await.is_empty());
    assert_eq!(embeddable(&world, generation, 0, 10).await.texts[0].version, head);
    let lags = world.storage.vector_lags(generation, 10).await.unwrap();
    assert_eq!(
        lags,
        [VectorLag { workspace: world.workspace, store: world.store, through: 0, end: 1 }]
    );
}

pub async fn writes_of_vectors_can_be_repeated(db: Db) {
    let world = World::new(db).await;
    let head = world.put("/a", "x").await.head;
    let write = async |key: &str, mutation: Mutation| {
        let key = idempotency(world.workspace, 1, key, 1, world.now());
        world.storage.write(mutation, Some(key)).await.unwrap()
    };
    let now = world.now();
    let open = || Mutation::OpenGeneration { model: "m".into(), dims: DIMS, is_fresh: true, now };
    let first = write("open", open()).await;
    let again = write("open", open()).await;
    assert_eq!((again.is_replay, &again.receipt), (true, &first.receipt));
    let Receipt::Generation(generation) = first.receipt else { panic!() };
    let vectors = vec![(head, made(1))];
    let batch = VectorBatch {
        workspace: world.workspace,
        generation: generation.id,
        store: world.store,
        through: 1,
        vectors,
        words: Vec::new(),
    };
    let first = write("put", Mutation::PutVectors(batch.clone())).await;
    let again = write("put", Mutation::PutVectors(batch)).await;
    assert_eq!((again.is_replay, again.receipt), (true, first.receipt));
    let drop = || Mutation::DropGeneration { generation: generation.id, limit: 9 };
    let first = write("drop", drop()).await;
    let again = write("drop", drop()).await;
    assert_eq!((again.is_replay, again.receipt), (true, first.receipt));
}
