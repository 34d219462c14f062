//! Texts that grow: however an engine keeps them, every version reads as if it were whole, whatever
//! became of the versions before it. Long enough here that an engine may share what they have in
//! common.

use super::fixture::*;
use super::import::{import, log, retarget};
use super::redact::{erase, redact};
use loci_model::decide::Refusal;
use loci_model::edit::Occurrence;
use loci_model::policy::ReadPass;
use loci_model::query::{ListItem, ListQuery};
use loci_model::{At, Content, Expect, Memory, StorePolicy, VersionId, View};
use loci_storage::log::{ImportItem, LogEntry};
use loci_storage::tail::{DEPTH_MAX, SHARED_BYTES_MIN};
use loci_storage::{AsOf, Storage, StorageError};
use std::sync::Arc;

type Db = Arc<dyn Storage>;

/// More than what is kept whole in any case, and not of one byte each.
fn long_text() -> String {
    "a word and another, ünd more. ".repeat(SHARED_BYTES_MIN as usize / 30 + 1)
}

/// Appends to `/log` and keeps what each version should say.
struct Log {
    world: World,
    text: String,
    versions: Vec<(VersionId, Option<String>)>,
}

impl Log {
    async fn new(db: Db) -> Self {
        let mut log = Self { world: World::new(db).await, text: String::new(), versions: vec![] };
        let text = long_text();
        let head = log.world.put("/log", &text).await.head;
        log.wrote(head, text);
        log
    }

    fn wrote(&mut self, version: VersionId, text: String) {
        self.versions.push((version, Some(text.clone())));
        self.text = text;
    }

    async fn append(&mut self, line: &str) -> Memory {
        let memory = self.world.edit(append("/log", line)).await.unwrap().memory;
        self.wrote(memory.head, format!("{}\n{line}", self.text));
        assert_eq!(memory.size_bytes, self.text.len() as u64);
        assert_eq!(memory.digest, Content::Text(self.text.clone()).digest());
        memory
    }

    async fn put(&mut self, text: &str) {
        let head = self.world.put("/log", text).await.head;
        self.wrote(head, text.to_owned());
    }

    async fn redact(&mut self, version: usize) {
        redact(&self.world, self.versions[version].0).await.unwrap();
        self.versions[version].1 = None;
    }

    /// Compares every version and the memory itself, by every way there is.
    async fn assert_reads(&self) {
        let world = &self.world;
        let said = |content: &Option<Content>| {
            content.as_ref().map(|content| content.text().unwrap().to_owned())
        };
        for (id, text) in &self.versions {
            assert_eq!(said(&world.version(*id).await.content), *text);
        }
        let history = world.history().await;
        let history = history.iter().map(|version| (version.id, said(&version.content)));
        assert_eq!(history.collect::<Vec<_>>(), self.versions);
        assert_eq!(world.text_at("/log").await.as_ref(), Some(&self.text));
        let head = world.get("/log").await.unwrap();
        let by_id = world.storage.get(&world.read_pass(), &At::Id(head.id), View::Full).await;
        assert_eq!(said(&by_id.unwrap().unwrap().content).as_ref(), Some(&self.text));
        let newest = world.storage.newest(&world.read_pass(), &path("/log"), View::Full).await;
        assert_eq!(said(&newest.unwrap().unwrap().content).as_ref(), Some(&self.text));
        let listed = world.list(&ListQuery::everything(View::Full, 10)).await;
        let ListItem::Memory(listed) = &listed[0] else { panic!("{listed:?}") };
        assert_eq!(said(&listed.content).as_ref(), Some(&self.text));
        let pass = world.search_pass();
        let texts = world.texts_for(&pass).await;
        assert_eq!(said(&texts[0].content).as_ref(), Some(&self.text));
        let changed = world.storage.changed_texts(&pass, world.store, 0, 1000).await.unwrap();
        let changed = changed.memories[0].1.as_ref().unwrap();
        assert_eq!(said(&changed.content).as_ref(), Some(&self.text));
        let found = world.storage.found(&pass, &[(world.store, head.id)], View::Full).await;
        assert_eq!(said(&found.unwrap()[0].content).as_ref(), Some(&self.text));
        self.assert_past(&world.read_pass()).await;
        world.assert_sound().await;
    }

    async fn assert_past(&self, pass: &ReadPass) {
        for (id, text) in &self.versions {
            let storage = &self.world.storage;
            let past = storage.texts_at(pass, AsOf::Version(*id), 0, 10).await.unwrap();
            let past = past.memories.iter().map(|memory| memory.content.as_ref().unwrap());
            let past: Vec<_> = past.map(|content| content.text().unwrap()).collect();
            assert_eq!(past, text.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

pub async fn every_version_of_a_growing_text_reads_as_it_was(db: Db) {
    let mut log = Log::new(db).await;
    for n in 0..40 {
        log.append(&format!("line {n} ö")).await;
    }
    log.assert_reads().await;
}

pub async fn a_text_that_starts_empty_grows(db: Db) {
    let world = World::new(db).await;
    world.put("/log", "").await;
    let mut log = Log { world, text: String::new(), versions: vec![] };
    log.versions.push((log.world.get("/log").await.unwrap().head, Some(String::new())));
    let line = "x".repeat(300);
    let first = log.world.edit(append("/log", &line)).await.unwrap().memory;
    log.wrote(first.head, line.clone());
    for _ in 0..9 {
        log.append(&line).await;
    }
    log.assert_reads().await;
}

pub async fn a_text_grows_on_after_it_was_rewritten(db: Db) {
    let mut log = Log::new(db).await;
    log.append("one").await;
    let longer = format!("{} and by an editor", log.text);
    log.put(&longer).await;
    log.append("two").await;
    let other = format!("other {}", log.text);
    log.put(&other).await;
    log.append("three").await;
    log.put("short").await;
    log.append("four").await;
    let shorter = long_text();
    log.put(&shorter).await;
    log.put(&shorter[..SHARED_BYTES_MIN as usize - 1]).await;
    log.append("five").await;
    log.assert_reads().await;
}

pub async fn attributes_change_between_appends(db: Db) {
    let mut log = Log::new(db).await;
    for n in 0..4 {
        let memory = log.append(&format!("line {n}")).await;
        let kinds = ["a", "b", "c", "d"];
        let head =
            log.world.edit(describe(memory.id, of_kind(kinds[n]))).await.unwrap().memory.head;
        let text = log.text.clone();
        log.wrote(head, text);
    }
    log.assert_reads().await;
    log.redact(3).await;
    log.redact(0).await;
    log.assert_reads().await;
}

pub async fn a_batch_appends_replaces_and_appends(db: Db) {
    let mut log = Log::new(db).await;
    let edits = vec![
        append("/log", "one"),
        replace("/log", "one", "two", Occurrence::Only),
        append("/log", "three"),
        recording(append("/log", "")),
        replace("/log", "three", "four", Occurrence::Only),
        append("/log", "five"),
    ];
    let begun = log.text.clone();
    let outcomes = log.world.commit(edits).await.unwrap();
    let texts = ["\none", "\ntwo", "\ntwo\nthree", "\ntwo\nthree\n", "\ntwo\nfour\n"];
    let last = "\ntwo\nfour\n\nfive";
    for (outcome, text) in outcomes.iter().zip(texts.iter().chain([&last])) {
        log.wrote(outcome.memory.head, format!("{begun}{text}"));
    }
    log.assert_reads().await;
}

pub async fn a_growing_text_outlives_the_redaction_of_its_past(db: Db) {
    let mut log = Log::new(db).await;
    for n in 0..8 {
        log.append(&format!("line {n}")).await;
    }
    for version in [4, 0, 7, 1, 5] {
        log.redact(version).await;
        log.assert_reads().await;
    }
    log.append("and on").await;
    log.redact(8).await;
    log.redact(2).await;
    log.append("and on").await;
    log.assert_reads().await;
    for version in [3, 6, 9] {
        log.redact(version).await;
    }
    log.assert_reads().await;
}

pub async fn the_end_of_a_removed_text_is_redacted(db: Db) {
    let mut log = Log::new(db).await;
    for n in 0..4 {
        log.append(&format!("line {n}")).await;
    }
    log.world.edit(remove("/log")).await.unwrap();
    for version in [4, 0, 2] {
        log.redact(version).await;
        for (id, text) in &log.versions {
            let content = log.world.version(*id).await.content;
            assert_eq!(content, text.clone().map(Content::Text));
        }
        log.world.assert_sound().await;
    }
}

pub async fn a_growing_text_is_erased_whole(db: Db) {
    let mut log = Log::new(db).await;
    for n in 0..5 {
        log.append(&format!("line {n}")).await;
    }
    log.redact(2).await;
    let other = log.world.put("/other", &log.text.clone()).await;
    let memory = log.world.get("/log").await.unwrap();
    assert_eq!(erase(&log.world, memory.id).await.unwrap(), 6);
    assert!(
        log.world
            .history()
            .await
            .iter()
            .all(|version| { version.content.is_none() || version.memory == other.id })
    );
    assert_eq!(log.world.text_at("/other").await.as_ref(), Some(&log.text));
    log.world.assert_sound().await;
}

pub async fn an_append_past_the_limit_loses_nothing(db: Db) {
    let limit = SHARED_BYTES_MIN * 2;
    let policy = StorePolicy { content_bytes_max: limit, ..StorePolicy::default() };
    let world = World::with_policy(db, policy).await;
    let line = "x".repeat(99);
    let mut text = line.clone();
    let mut refused = None;
    for _ in 0..40 {
        match world.edit(append("/log", &line)).await {
            Ok(outcome) if outcome.is_created() => {}
            Ok(_) => text = format!("{text}\n{line}"),
            Err(error) => refused = Some(error),
        }
    }
    let bytes = text.len() as u64 + 100;
    assert!(bytes > limit);
    let Some(StorageError::Refused { refusal, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal, Refusal::TooLarge { bytes, limit });
    assert_eq!(world.text_at("/log").await, Some(text.clone()));
    let rest = "y".repeat(usize::try_from(limit).unwrap() - text.len() - 1);
    world.edit(append("/log", &rest)).await.unwrap();
    assert_eq!(world.text_at("/log").await, Some(format!("{text}\n{rest}")));
    world.assert_sound().await;
}

pub async fn sealed_bytes_do_not_grow(db: Db) {
    let world = World::new(db).await;
    let sealed = vec![7; 3000];
    world.edit(put_sealed("/log", &sealed)).await.unwrap();
    let refused = world.edit(append("/log", "x")).await;
    assert!(
        matches!(refused, Err(StorageError::Refused { refusal: Refusal::Sealed, .. })),
        "{refused:?}"
    );
    let memory = world.get("/log").await.unwrap();
    world.edit(pin(memory.id)).await.unwrap();
    let mut longer = sealed.clone();
    longer.push(8);
    world.edit(put_sealed("/log", &longer)).await.unwrap();
    world.put("/log", &long_text()).await;
    let contents: Vec<_> = world.history().await.into_iter().map(|v| v.content.unwrap()).collect();
    let expected = [
        Content::Sealed(sealed.clone()),
        Content::Sealed(sealed),
        Content::Sealed(longer),
        Content::Text(long_text()),
    ];
    assert!(contents == expected);
    world.assert_sound().await;
}

pub async fn appends_of_many_at_once_all_arrive(db: Db) {
    let log = Log::new(db).await;
    let world = Arc::new(log.world);
    let mut writers = Vec::new();
    for writer in 0..8 {
        let world = Arc::clone(&world);
        writers.push(tokio::spawn(async move {
            for n in 0..10 {
                world.edit(append("/log", &format!("{writer}-{n}"))).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let text = world.text_at("/log").await.unwrap();
    let lines: Vec<_> = text[log.text.len()..].lines().skip(1).collect();
    assert_eq!(lines.len(), 80);
    for writer in 0..8 {
        let own = lines.iter().filter(|line| line.starts_with(&format!("{writer}-")));
        let expected: Vec<_> = (0..10).map(|n| format!("{writer}-{n}")).collect();
        assert_eq!(own.copied().collect::<Vec<_>>(), expected);
    }
    let history = world.history().await;
    for pair in history.windows(2) {
        let texts = pair.iter().map(|version| version.content.as_ref().unwrap().text().unwrap());
        let texts: Vec<_> = texts.collect();
        assert!(texts[1].starts_with(texts[0]));
    }
    world.assert_sound().await;
}

pub async fn an_append_minds_what_it_expects(db: Db) {
    let mut log = Log::new(db).await;
    let first = log.append("one").await;
    let expect = Expect::Digest(first.digest);
    log.world.edit(expecting(append("/log", "two"), expect.clone())).await.unwrap();
    let refused = log.world.edit(expecting(append("/log", "three"), expect)).await;
    let is_refused =
        matches!(&refused, Err(StorageError::Refused { refusal: Refusal::ExpectFailed, .. }));
    assert!(is_refused, "{refused:?}");
    assert_eq!(log.world.text_at("/log").await, Some(format!("{}\ntwo", log.text)));
}

/// Longer than any chain may be.
pub async fn a_text_grows_without_end(db: Db) {
    let mut log = Log::new(db).await;
    let count = DEPTH_MAX as usize + 120;
    for batch in (0..count).collect::<Vec<_>>().chunks(100) {
        let edits = batch.iter().map(|n| append("/log", &format!("{n}"))).collect();
        for (outcome, n) in log.world.commit(edits).await.unwrap().iter().zip(batch) {
            let text = format!("{}\n{n}", log.text);
            log.wrote(outcome.memory.head, text);
        }
    }
    assert_eq!(log.world.text_at("/log").await.as_ref(), Some(&log.text));
    let near = DEPTH_MAX as usize;
    for place in [1, 500, near - 1, near, near + 1, near + 2, count] {
        let (id, text) = &log.versions[place];
        let content = log.world.version(*id).await.content;
        assert_eq!(content, text.clone().map(Content::Text), "{place}");
    }
    log.redact(near).await;
    log.redact(near + 1).await;
    log.append("end").await;
    for place in [near - 1, near + 2, count, count + 1] {
        let (id, text) = &log.versions[place];
        let content = log.world.version(*id).await.content;
        assert_eq!(content, text.clone().map(Content::Text), "{place}");
    }
    log.world.assert_sound().await;
}

pub async fn a_growing_text_travels(db: Db) {
    let mut grown = Log::new(db).await;
    for n in 0..10 {
        grown.append(&format!("line {n}")).await;
    }
    grown.redact(4).await;
    for n in 0..10 {
        grown.append(&format!("line {n}")).await;
    }
    grown.redact(12).await;
    let world = &grown.world;
    let entries = log(world).await;
    let copy = world.plan_store(Default::default());
    let items = vec![ImportItem::Store(Box::new(copy.clone()))];
    import(world, items).await.unwrap();
    const SHIFT: u128 = 1 << 64;
    let items = retarget(entries.clone(), copy.id, SHIFT);
    for some in items.chunks(7) {
        import(world, some.to_vec()).await.unwrap();
    }
    let there = world.storage.log(&world.admin_pass(), copy.id, 0, 1000).await.unwrap();
    let said = |entries: &[LogEntry]| -> Vec<_> {
        let said = entries.iter().map(|entry| match entry {
            LogEntry::Version { version, .. } => (version.digest, version.content.clone()),
            LogEntry::Damaged { .. } | LogEntry::Redaction { .. } => (None, None),
        });
        said.collect()
    };
    assert_eq!(said(&there), said(&entries));
    // What came in goes on like what was written here.
    let pass = world.system().write(world.workspace, copy.id, world.owner, world.now());
    let head = world.commit_as(pass, vec![append("/log", "and on")]).await.unwrap();
    let text = Content::Text(format!("{}\nand on", grown.text));
    assert_eq!(head[0].memory.digest, text.digest());
    let pass = world.system().read(world.workspace, copy.id, world.now());
    let read = world.storage.get(&pass, &At::Path(None, path("/log")), View::Full).await;
    assert_eq!(read.unwrap().unwrap().content, Some(text));
    grown.assert_reads().await;
}
