//! Erasing: a repeated request is answered like the first one, only after the scrub, and what
//! compaction quoted of an erased text goes with it.

use crate::stage::{Stage, idempotent};
use loci_engine::compact::{DerivedLine, Fate};
use loci_engine::search::SearchOptions;
use loci_engine::{Context, Error, HistoryQuery, NewStore};
use loci_model::query::{ListItem, ListQuery};
use loci_model::store::OnRemove;
use loci_model::{
    At, Attributes, AttributesPatch, Caller, Content, Edit, EditOp, Expect, Memory, MemoryId,
    MemoryPath, OnSame, PathPrefix, StoreId, StorePolicy, Version, View, WorkspaceId, limit,
};
use loci_storage::Storage;
use loci_storage_memory::MemStorage;
use std::sync::Arc;

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

async fn over() -> (Stage, Arc<MemStorage>) {
    let storage = Arc::new(MemStorage::new());
    (Stage::over(storage.clone(), SearchOptions::default()).await, storage)
}

fn is_pending<T>(answer: &Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Unavailable(_)))
}

#[tokio::test]
async fn a_repeated_redaction_waits_for_the_scrub_as_the_first_one_did() {
    let (stage, storage) = over().await;
    let store = stage.store("s").await.id;
    let old = stage.put(store, "/a", "old").await.memory.head;
    stage.put(store, "/a", "new").await;
    let context = idempotent(&stage.admin, "redact", 1);
    storage.hold_scrubs(true);
    assert!(is_pending(&stage.engine.redact(&context, store, old).await), "the first");
    assert!(is_pending(&stage.engine.redact(&context, store, old).await), "the receipt is there");
    storage.hold_scrubs(false);
    let redacted = stage.engine.redact(&context, store, old).await.unwrap();
    assert!(redacted.redaction.is_some());
}

#[tokio::test]
async fn a_repeated_erasure_waits_for_the_scrub_as_the_first_one_did() {
    let (stage, storage) = over().await;
    let store = stage.store("s").await.id;
    let memory = stage.put(store, "/a", "text").await.memory.id;
    let context = idempotent(&stage.admin, "erase", 1);
    storage.hold_scrubs(true);
    for _ in 0..2 {
        assert!(is_pending(&stage.engine.erase(&context, store, memory).await));
    }
    storage.hold_scrubs(false);
    assert_eq!(stage.engine.erase(&context, store, memory).await.unwrap().versions, 2);
}

#[tokio::test]
async fn a_repeated_removal_of_a_store_waits_for_the_scrub_with_and_without_a_key() {
    let (stage, storage) = over().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "text").await;
    let context = idempotent(&stage.admin, "remove", 1);
    storage.hold_scrubs(true);
    for context in [&context, &context, &stage.admin] {
        assert!(is_pending(&stage.engine.remove_store(context, store).await));
    }
    storage.hold_scrubs(false);
    assert_eq!(stage.engine.remove_store(&context, store).await.unwrap(), store);
    let plain = stage.engine.remove_store(&stage.admin, store).await;
    assert!(matches!(plain, Err(Error::NotFound(_))), "{plain:?}");
}

/// Otherwise every key could make the server write and wait, for ids that it makes up.
#[tokio::test]
async fn removing_what_never_was_writes_nothing_and_waits_for_no_scrub() {
    let (stage, storage) = over().await;
    let store = stage.store("s").await.id;
    let unknown = stage.engine.seams().store_id(stage.engine.seams().now());
    storage.hold_scrubs(true);
    storage.stop_after(Some(0));
    let refused = stage.engine.remove_store(&stage.admin, unknown).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    let stranger = Context {
        caller: Caller { workspace: WorkspaceId::from_u128(7), ..stage.admin.caller.clone() },
        ..stage.admin.clone()
    };
    let refused = stage.engine.remove_store(&stranger, store).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
}

/// A backup that is being sent holds up the scrubs of erasures, and nothing else that time brings.
#[tokio::test]
async fn a_sweep_whose_scrubs_are_held_up_does_the_rest() {
    let (stage, storage) = over().await;
    let policy =
        StorePolicy { on_remove: OnRemove::EraseAfter { secs: 100 }, ..StorePolicy::default() };
    let new = NewStore { name: "forgetful".into(), policy, ..NewStore::default() };
    let store = stage.engine.create_store(&stage.admin, new).await.unwrap().id;
    let key = idempotent(&stage.admin, "once", 1);
    let edit = Edit::put_text(path("/a"), "text");
    stage.engine.commit_one(&key, store, edit.clone(), "api").await.unwrap();
    let remove = Edit::remove(At::Path(None, path("/a")), Expect::Anything);
    stage.engine.commit_one(&stage.admin, store, remove, "api").await.unwrap();
    let doomed = stage.store("doomed").await.id;
    storage.stop_after(Some(1));
    assert!(stage.engine.remove_store(&stage.admin, doomed).await.is_err());
    storage.stop_after(None);
    stage.pass_secs(limit::IDEMPOTENCY_SECS + 1);

    storage.hold_scrubs(true);
    assert!(is_pending(&stage.engine.sweep().await), "what is held up is said");
    assert!(storage.unpurged(10).await.unwrap().is_empty(), "the store is purged");
    let forgotten = stage.engine.commit_one(&key, store, edit, "api").await.unwrap();
    assert!(forgotten.is_created(), "the key is forgotten");
    storage.hold_scrubs(false);
    assert_eq!(stage.engine.sweep().await.unwrap().erased, 0, "it was erased before");
}

/// The first request was cut off when the store was out of sight and nothing was purged.
#[tokio::test]
async fn a_store_that_was_hidden_only_is_purged_before_it_is_said_to_be_gone() {
    let (stage, storage) = over().await;
    let store = stage.store("s").await.id;
    stage.put(store, "/a", "text").await;
    storage.stop_after(Some(1));
    assert!(stage.engine.remove_store(&stage.admin, store).await.is_err());
    storage.stop_after(None);
    assert_eq!(storage.unpurged(10).await.unwrap().len(), 1);
    let again = stage.engine.remove_store(&stage.admin, store).await;
    assert!(matches!(again, Err(Error::NotFound(_))), "{again:?}");
    assert!(storage.unpurged(10).await.unwrap().is_empty());
}

/// A store whose episodes became one summary.
struct Compacted {
    stage: Stage,
    store: StoreId,
    episodes: Vec<Memory>,
    summary: MemoryId,
}

impl Compacted {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let store = stage.store("notes").await.id;
        let mut episodes = Vec::new();
        for number in 0..3 {
            let attributes = Attributes { kind: Some("episode".into()), ..Attributes::default() };
            let edit = Edit {
                at: At::Path(None, path(&format!("/name{number}"))),
                expect: Expect::Absent,
                on_same: OnSame::Record,
                op: EditOp::Put {
                    content: Some(Content::Text(format!("Secret{number} was said."))),
                    to: None,
                    attributes: AttributesPatch::replace(attributes),
                },
            };
            let written = stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
            episodes.push(written.memory);
            stage.pass_secs(60);
        }
        stage.engine.compact(&stage.admin, store, 1, false).await.unwrap();
        let summary = live(&stage, store).await.pop().unwrap().id;
        Self { stage, store, episodes, summary }
    }

    async fn erase(&self, number: usize) -> Vec<DerivedLine> {
        self.erase_as(&self.stage.admin, number).await
    }

    async fn erase_as(&self, context: &Context, number: usize) -> Vec<DerivedLine> {
        let memory = self.episodes[number].id;
        self.stage.engine.erase(context, self.store, memory).await.unwrap().derived
    }

    /// The text of the summary as it is now.
    async fn text(&self) -> Option<String> {
        let found = live(&self.stage, self.store).await;
        let found = found.into_iter().find(|memory| memory.id == self.summary)?;
        Some(found.content.unwrap().text().unwrap().to_owned())
    }

    /// Whether a word is in any version of the store, or in what versions say of themselves.
    async fn is_anywhere(&self, word: &str) -> bool {
        let versions = history(&self.stage, self.store).await;
        versions.iter().flat_map(texts).any(|text| text.contains(word))
    }

    fn line(&self, path: Option<&str>, fate: Fate) -> Vec<DerivedLine> {
        vec![line(self.summary, path, fate)]
    }
}

fn line(memory: MemoryId, path: Option<&str>, fate: Fate) -> DerivedLine {
    DerivedLine { memory, path: path.map(self::path), fate }
}

/// Everything that a version holds of what somebody wrote. Its own debugging form hides contents.
fn texts(version: &Version) -> Vec<String> {
    let content = version.content.as_ref().and_then(Content::text).unwrap_or_default();
    let path = version.path.as_ref().map(|path| path.to_string()).unwrap_or_default();
    let mut texts = vec![content.to_owned(), path];
    let attributes = version.attributes.iter();
    texts.extend(
        attributes.flat_map(|it| [&it.summary, &it.metadata, &it.source]).flatten().cloned(),
    );
    texts
}

const SUMMARY: &str = "/summary.2027-01-15-1";

async fn live(stage: &Stage, store: StoreId) -> Vec<Memory> {
    let query = ListQuery::everything(View::Full, 100);
    let page = stage.engine.list(&stage.admin, store, &query).await.unwrap();
    let memories = page.items.into_iter().filter_map(|item| match item {
        ListItem::Memory(memory) => Some(*memory),
        ListItem::Directory(_) => None,
    });
    memories.collect()
}

async fn history(stage: &Stage, store: StoreId) -> Vec<Version> {
    let query = HistoryQuery {
        memory: None,
        actors: None,
        since: None,
        until: None,
        prefix: PathPrefix::root(),
        view: View::Full,
        before_seq: None,
        limit: 1000,
    };
    stage.engine.history(&stage.admin, store, &query).await.unwrap().items
}

#[tokio::test]
async fn an_erased_source_is_taken_out_of_its_summary() {
    let world = Compacted::new().await;
    assert!(world.text().await.unwrap().contains("Secret1"));
    assert_eq!(world.erase(1).await, world.line(Some(SUMMARY), Fate::Requoted));
    assert!(!world.is_anywhere("Secret1").await && !world.is_anywhere("name1").await);
    let text = world.text().await.unwrap();
    assert!(text.contains("name0: Secret0 was said."), "{text}");
    assert!(text.contains("Quoted from 2 episodes") && text.contains("Secret2"), "{text}");

    assert_eq!(world.erase(0).await, world.line(Some(SUMMARY), Fate::Requoted));
    assert!(!world.is_anywhere("Secret0").await);
    assert_eq!(world.erase(2).await, world.line(None, Fate::Erased), "no source is left");
    assert!(!world.is_anywhere("Secret").await && !world.is_anywhere("name").await);
    assert!(live(&world.stage, world.store).await.is_empty());
    assert!(world.stage.engine.check(&world.stage.admin).await.unwrap().problems.is_empty());
}

#[tokio::test]
async fn a_repeated_erasure_says_again_what_became_of_the_summary() {
    let world = Compacted::new().await;
    let context = idempotent(&world.stage.admin, "erase", 1);
    let first = world.erase_as(&context, 1).await;
    let versions = history(&world.stage, world.store).await.len();
    assert_eq!(world.erase_as(&context, 1).await, first);
    assert_eq!(world.erase(1).await, first, "also without a key");
    assert_eq!(
        history(&world.stage, world.store).await.len(),
        versions,
        "nothing is written twice"
    );
    world.stage.engine.remove_store(&world.stage.admin, world.store).await.unwrap();
    assert_eq!(world.erase_as(&context, 1).await, [], "the receipt outlives the store");
}

/// What somebody made of it cannot be told apart from what was quoted.
#[tokio::test]
async fn a_summary_that_was_changed_or_removed_is_erased_with_its_source() {
    let world = Compacted::new().await;
    let edit = Edit::put_text(path(SUMMARY), "In short: Secret1 and more.");
    world.stage.engine.commit_one(&world.stage.admin, world.store, edit, "api").await.unwrap();
    assert_eq!(world.erase(1).await, world.line(None, Fate::Erased));
    assert!(!world.is_anywhere("Secret1").await);

    let world = Compacted::new().await;
    let remove = Edit::remove(At::Id(world.summary), Expect::Anything);
    world.stage.engine.commit_one(&world.stage.admin, world.store, remove, "api").await.unwrap();
    assert_eq!(world.erase(1).await, world.line(None, Fate::Erased));
    assert!(!world.is_anywhere("Secret1").await);

    let world = Compacted::new().await;
    world.stage.engine.archive_store(&world.stage.admin, world.store).await.unwrap();
    assert_eq!(world.erase(1).await, world.line(None, Fate::Erased));
    assert!(!world.is_anywhere("Secret1").await);
}

#[tokio::test]
async fn attributes_of_a_summary_may_change_without_losing_it() {
    let world = Compacted::new().await;
    let attributes = AttributesPatch {
        tags: loci_model::Patch::Set(vec!["kept".into()]),
        ..AttributesPatch::default()
    };
    let edit = Edit {
        at: At::Id(world.summary),
        expect: Expect::Anything,
        on_same: OnSame::Skip,
        op: EditOp::Put { content: None, to: Some(path("/moved")), attributes },
    };
    world.stage.engine.commit_one(&world.stage.admin, world.store, edit, "api").await.unwrap();
    assert_eq!(world.erase(1).await, world.line(Some("/moved"), Fate::Requoted));
    let summary = live(&world.stage, world.store).await.pop().unwrap();
    assert_eq!(summary.attributes.tags, ["kept"]);
    assert!(!world.is_anywhere("Secret1").await);
}

#[tokio::test]
async fn redacting_what_was_quoted_takes_it_out_and_the_plan_says_so() {
    let world = Compacted::new().await;
    let heads: Vec<_> = world.episodes.iter().map(|memory| memory.head).collect();
    let engine = &world.stage.engine;
    let admin = &world.stage.admin;
    let plan = engine.plan_redaction(admin, world.store, &heads[..1]).await.unwrap();
    assert_eq!(plan.derived, world.line(Some(SUMMARY), Fate::Requoted));
    let all = engine.plan_redaction(admin, world.store, &heads).await.unwrap();
    let erased = world.line(Some(SUMMARY), Fate::Erased);
    assert_eq!(all.derived, erased, "nothing would be left to quote");
    assert!(world.is_anywhere("Secret0").await, "a plan changes nothing");

    engine.redact(admin, world.store, heads[0]).await.unwrap();
    assert!(!world.is_anywhere("Secret0").await);
    let done = engine.redact_all(admin, world.store, &heads[1..2], "private").await.unwrap();
    assert_eq!(done.derived, world.line(Some(SUMMARY), Fate::Requoted));
    assert!(!world.is_anywhere("Secret1").await && world.is_anywhere("Secret2").await);
}

#[tokio::test]
async fn what_no_summary_was_made_from_is_erased_alone() {
    let stage = Stage::new().await;
    let store = stage.store("s").await.id;
    let one = stage.put(store, "/one", "text").await.memory;
    let two = stage.put(store, "/two", "text").await.memory;
    let removed = Edit::remove(At::Id(two.id), Expect::Anything);
    stage.engine.commit_one(&stage.admin, store, removed, "api").await.unwrap();
    for memory in [one.id, two.id] {
        assert_eq!(stage.engine.erase(&stage.admin, store, memory).await.unwrap().derived, []);
    }
    // Evicted without a summary, right after another store's worth of merging.
    let world = Compacted::new().await;
    let lone = world.stage.put(world.store, "/lone", "alone").await.memory;
    world.stage.engine.compact(&world.stage.admin, world.store, 0, false).await.unwrap();
    let erased = world.stage.engine.erase(&world.stage.admin, world.store, lone.id).await.unwrap();
    assert_eq!(erased.derived, []);
}

/// A summary that somebody calls an episode is merged like one, and what it quotes is quoted once more.
#[tokio::test]
async fn an_erased_source_is_taken_out_of_the_summary_of_its_summary() {
    let world = Compacted::new().await;
    let (engine, admin) = (&world.stage.engine, &world.stage.admin);
    let episode = AttributesPatch {
        kind: loci_model::Patch::Set(Some("episode".into())),
        // Its line about itself would be quoted in place of its text.
        summary: loci_model::Patch::Set(None),
        ..AttributesPatch::default()
    };
    let describe = |at, attributes| Edit {
        at,
        expect: Expect::Anything,
        on_same: OnSame::Skip,
        op: EditOp::Put { content: None, to: None, attributes },
    };
    engine
        .commit_one(admin, world.store, describe(At::Id(world.summary), episode.clone()), "api")
        .await
        .unwrap();
    let later = world.stage.put(world.store, "/later", "Something else was said.").await.memory;
    let edit = describe(At::Id(later.id), episode);
    engine.commit_one(admin, world.store, edit, "api").await.unwrap();
    engine.compact(admin, world.store, 1, false).await.unwrap();
    let last = live(&world.stage, world.store).await.pop().unwrap();
    assert!(last.id != world.summary && texts_of(&last).contains("Secret1"), "or nothing is shown");

    let heads = [world.episodes[1].head];
    let plan = engine.plan_redaction(admin, world.store, &heads).await.unwrap();
    let both = |fate| {
        vec![line(world.summary, None, Fate::Erased), line(last.id, Some(last.path.as_str()), fate)]
    };
    assert_eq!(plan.derived, both(Fate::Requoted));
    let context = idempotent(admin, "erase", 1);
    for _ in 0..2 {
        assert_eq!(world.erase_as(&context, 1).await, both(Fate::Requoted));
    }
    assert!(!world.is_anywhere("Secret1").await);
    let text = texts_of(&live(&world.stage, world.store).await.pop().unwrap());
    assert!(text.contains("Something else was said."), "{text}");
    assert!(engine.check(admin).await.unwrap().problems.is_empty());
}

fn texts_of(memory: &Memory) -> String {
    memory.content.as_ref().and_then(Content::text).unwrap().to_owned()
}
