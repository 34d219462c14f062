//! Compaction: what goes, what it becomes, that nothing is lost on the way, and that it can be taken
//! back.

use crate::stage::Stage;
use loci_engine::compact::{REASON, Source, Summarizer, Summary};
use loci_engine::{Context, Engine, Error, Purpose};
use loci_model::query::{ListItem, ListQuery, VersionQuery};
use loci_model::store::PolicyPatch;
use loci_model::{
    At, Attributes, AttributesPatch, ChangeOp, Content, Edit, EditOp, Expect, Memory, MemoryPath,
    OnSame, Operation, Outcome, Patch, StoreId, View, Visibility,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

async fn write(
    engine: &Engine,
    context: &Context,
    store: StoreId,
    at: &str,
    text: &str,
    attributes: Attributes,
) -> Outcome {
    let edit = Edit {
        at: At::Path(None, path(at)),
        expect: Expect::Anything,
        on_same: OnSame::Record,
        op: EditOp::Put {
            content: Some(Content::Text(text.into())),
            to: None,
            attributes: AttributesPatch::replace(attributes),
        },
    };
    engine.commit_one(context, store, edit, "api").await.unwrap()
}

fn kind(kind: &str, importance: u8) -> Attributes {
    Attributes { kind: Some(kind.into()), importance: Some(importance), ..Attributes::default() }
}

async fn all(stage: &Stage, store: StoreId) -> BTreeMap<String, Memory> {
    let query = ListQuery::everything(View::Full, 1000);
    let page = stage.engine.list(&stage.admin, store, &query).await.unwrap();
    let memories = page.items.into_iter().filter_map(|item| match item {
        ListItem::Memory(memory) => Some((memory.path.as_str().to_owned(), *memory)),
        ListItem::Directory(_) => None,
    });
    memories.collect()
}

fn text(memory: &Memory) -> &str {
    memory.content.as_ref().unwrap().text().unwrap()
}

/// Five episodes, two facts, one of them pinned.
async fn filled(stage: &Stage) -> StoreId {
    let store = stage.store("notes").await.id;
    for number in 0..5 {
        let line = format!("Episode {number} happened.");
        let at = format!("/e{number}");
        write(&stage.engine, &stage.admin, store, &at, &line, kind("episode", 10)).await;
        stage.pass_secs(60);
    }
    write(&stage.engine, &stage.admin, store, "/weak", "A weak fact.", kind("fact", 5)).await;
    let pinned = Attributes { pinned: true, ..kind("fact", 0) };
    write(&stage.engine, &stage.admin, store, "/pinned", "A pinned fact.", pinned).await;
    store
}

#[tokio::test]
async fn episodes_become_a_summary_that_names_them() {
    let stage = Stage::new().await;
    let store = filled(&stage).await;
    let before = all(&stage, store).await;
    let done = stage.engine.compact(&stage.admin, store, 5, false).await.unwrap();
    let removed: Vec<&str> = done.removed.iter().map(MemoryPath::as_str).collect();
    assert_eq!(removed, ["/e0", "/e1", "/e2"]);
    assert_eq!((done.summaries.len(), done.left), (1, 5));

    let after = all(&stage, store).await;
    let summary = &after[done.summaries[0].as_str()];
    assert_eq!(summary.path.as_str(), "/summary.2027-01-15-1");
    assert_eq!(summary.attributes.kind.as_deref(), Some("summary"));
    assert_eq!(summary.attributes.importance, Some(10));
    for quoted in ["e0: Episode 0 happened.", "e2: Episode 2 happened.", "not written by a model"] {
        assert!(text(summary).contains(quoted), "{}", text(summary));
    }
    let metadata: serde_json::Value =
        serde_json::from_str(summary.attributes.metadata.as_ref().unwrap()).unwrap();
    assert_eq!(metadata["compacted_from"], serde_json::json!(["e0", "e1", "e2"]));
    assert_eq!(metadata["summarized_by"], "extraction");

    let query = VersionQuery {
        memory: Some(summary.id),
        operation: Some(Operation::Created),
        actor: None,
        since: None,
        until: None,
        view: View::Basic,
        before_seq: None,
        limit: 10,
    };
    let versions = stage.engine.versions(&stage.admin, store, &query).await.unwrap().items;
    let sources = ["/e0", "/e1", "/e2"].map(|path| before[path].head);
    assert_eq!(versions[0].cause.derived_from, sources);
    let feed = stage.engine.changes(&stage.admin, store, 7, 100).await.unwrap().changes;
    assert!(feed.iter().all(|change| change.reason == REASON));
    let ops: Vec<_> = feed.iter().map(|change| change.op).collect();
    assert_eq!(ops, [ChangeOp::Created, ChangeOp::Deleted, ChangeOp::Deleted, ChangeOp::Deleted]);
}

#[tokio::test]
async fn what_is_pinned_stays_and_the_weakest_go_first() {
    let stage = Stage::new().await;
    let store = filled(&stage).await;
    let done = stage.engine.compact(&stage.admin, store, 1, false).await.unwrap();
    // Five episodes and a fact go; a summary and what is pinned are left.
    assert_eq!((done.removed.len(), done.left), (6, 2));
    let after = all(&stage, store).await;
    assert!(after.contains_key("/pinned"));
    let again = stage.engine.compact(&stage.admin, store, 1, false).await.unwrap();
    assert_eq!((again.removed.len(), again.left), (1, 1));
    let none = stage.engine.compact(&stage.admin, store, 0, false).await.unwrap();
    assert_eq!((none.removed.len(), none.left), (0, 1));
}

#[tokio::test]
async fn a_dry_run_says_what_would_go_and_changes_nothing() {
    let stage = Stage::new().await;
    let store = filled(&stage).await;
    let before = all(&stage, store).await;
    let told = stage.engine.compact(&stage.admin, store, 3, true).await.unwrap();
    assert_eq!(all(&stage, store).await, before);
    let done = stage.engine.compact(&stage.admin, store, 3, false).await.unwrap();
    assert_eq!(told, done);
}

#[tokio::test]
async fn the_history_gives_back_every_source() {
    let stage = Stage::new().await;
    let store = filled(&stage).await;
    let before = all(&stage, store).await;
    let done = stage.engine.compact(&stage.admin, store, 4, false).await.unwrap();
    let summary = all(&stage, store).await[done.summaries[0].as_str()].id;
    let undone = stage.engine.undo_compaction(&stage.admin, store, summary).await.unwrap();
    assert_eq!(undone.summaries, done.removed);
    let told = |all: &BTreeMap<String, Memory>| -> Vec<_> {
        all.values().map(|one| (one.path.clone(), one.attributes.clone(), one.digest)).collect()
    };
    assert_eq!(told(&all(&stage, store).await), told(&before));
    let twice = stage.engine.undo_compaction(&stage.admin, store, summary).await;
    assert!(matches!(twice, Err(Error::NotFound("memory"))));
    let fact = before["/weak"].id;
    let wrong = stage.engine.undo_compaction(&stage.admin, store, fact).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn what_was_hidden_is_not_told_in_a_summary_that_is_shown() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    for (at, visibility) in
        [("/a", Visibility::Context), ("/b", Visibility::Internal), ("/c", Visibility::Context)]
    {
        let attributes = Attributes { visibility, ..kind("episode", 1) };
        write(&stage.engine, &stage.admin, store, at, &format!("Secret of {at}"), attributes).await;
    }
    write(&stage.engine, &stage.admin, store, "/dir/d", "Elsewhere", kind("episode", 1)).await;
    let done = stage.engine.compact(&stage.admin, store, 1, false).await.unwrap();
    let after = all(&stage, store).await;
    let summary = &after[done.summaries[0].as_str()];
    assert!(text(summary).contains("Secret of /a") && text(summary).contains("Secret of /c"));
    assert!(!text(summary).contains("/b") && !text(summary).contains("Elsewhere"));
}

#[tokio::test]
async fn a_home_keeps_its_owner() {
    let stage = Stage::new().await;
    let agent = stage.somebody("scout").await;
    let own = stage.engine.store_named(&agent, "scout", Purpose::Write).await.unwrap().unwrap();
    for number in 0..4 {
        let at = format!("/e{number}");
        write(&stage.engine, &agent, own, &at, "It rained.", kind("episode", 1)).await;
    }
    let done = stage.engine.compact(&stage.admin, own, 2, false).await.unwrap();
    let summary = &all(&stage, own).await[done.summaries[0].as_str()];
    let scout = agent.caller.principal;
    assert_eq!((summary.owner, summary.partition), (scout, Some(scout)));
    let guest = stage.somebody("guest").await;
    assert!(stage.engine.compact(&guest, own, 1, false).await.is_err());
}

#[tokio::test]
async fn stores_over_their_cap_are_compacted_below_it() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let cap = PolicyPatch::soft_cap(Some(20));
    stage.engine.set_policy(&stage.admin, store, cap).await.unwrap();
    for number in 0..20 {
        let at = format!("/e{number}");
        write(&stage.engine, &stage.admin, store, &at, "It rained.", kind("episode", 1)).await;
    }
    assert_eq!(stage.engine.compact_crowded().await.unwrap(), 0);
    write(&stage.engine, &stage.admin, store, "/one-more", "It snowed.", kind("fact", 1)).await;
    // Somebody who waits for it hears of it.
    tokio::time::timeout(std::time::Duration::from_secs(60), stage.engine.grown()).await.unwrap();
    assert_eq!(stage.engine.compact_crowded().await.unwrap(), 4);
    let after = all(&stage, store).await;
    assert_eq!(after.len(), 18);
    assert!(after.contains_key("/one-more"));
    assert_eq!(stage.engine.compact_crowded().await.unwrap(), 0);
}

#[tokio::test]
async fn where_everything_is_pinned_nothing_goes() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    stage.engine.set_policy(&stage.admin, store, PolicyPatch::soft_cap(Some(1))).await.unwrap();
    for at in ["/a", "/b", "/c"] {
        let pinned = Attributes { pinned: true, ..kind("episode", 1) };
        write(&stage.engine, &stage.admin, store, at, "Keep this.", pinned).await;
    }
    assert_eq!(stage.engine.compact_crowded().await.unwrap(), 0);
    assert_eq!(stage.engine.compact_crowded().await.unwrap(), 0);
    assert_eq!(all(&stage, store).await.len(), 3);
}

/// Writes what it was told to, after doing what it was told to.
struct Scripted {
    answers: Mutex<Vec<Result<Summary, String>>>,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Scripted {
    fn new(answers: Vec<Result<&str, &str>>) -> Arc<Self> {
        let by = || "model:test".to_owned();
        let written = |answer: Result<&str, &str>| match answer {
            Ok(text) => Ok(Summary { text: text.to_owned(), by: by() }),
            Err(why) => Err(why.to_owned()),
        };
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().rev().map(written).collect()),
            meanwhile: Mutex::new(None),
        })
    }
}

impl Summarizer for Scripted {
    fn summarize(&self, sources: &[Source], _bytes_max: usize) -> Result<Summary, String> {
        assert!(sources.len() > 1);
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        self.answers.lock().unwrap().pop().expect("asked once too often")
    }
}

#[tokio::test]
async fn a_model_may_write_the_summary_and_its_failure_loses_nothing() {
    for (answer, expected, by) in [
        (Ok("They did five things."), "They did five things.", "model:test"),
        (Err("no answer"), "Quoted from 5 episodes", "extraction"),
        (Ok("  "), "Quoted from 5 episodes", "extraction"),
        (Ok(&*"long ".repeat(10_000)), "Quoted from 5 episodes", "extraction"),
    ] {
        let mut stage = Stage::new().await;
        stage.engine = stage.engine.with_summarizer(Scripted::new(vec![answer]));
        let store = filled(&stage).await;
        let done = stage.engine.compact(&stage.admin, store, 3, false).await.unwrap();
        let summary = &all(&stage, store).await[done.summaries[0].as_str()];
        assert!(text(summary).starts_with(expected), "{}", text(summary));
        let source = summary.attributes.source.as_deref();
        assert_eq!(source, Some(&*format!("compaction by {by}")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_pins_or_changes_a_source_meanwhile_wins() {
    let mut stage = Stage::new().await;
    let scripted = Scripted::new(vec![Ok("first"), Ok("second")]);
    stage.engine = stage.engine.with_summarizer(scripted.clone());
    let store = filled(&stage).await;
    let (engine, admin) = (stage.engine.clone(), stage.admin.clone());
    let running = tokio::runtime::Handle::current();
    *scripted.meanwhile.lock().unwrap() = Some(Box::new(move || {
        running.block_on(async {
            let pin = AttributesPatch { pinned: Patch::Set(true), ..AttributesPatch::default() };
            let edit = Edit {
                at: At::Path(None, path("/e0")),
                expect: Expect::Present,
                on_same: OnSame::Skip,
                op: EditOp::Put { content: None, to: None, attributes: pin },
            };
            engine.commit_one(&admin, store, edit, "api").await.unwrap();
        });
    }));
    let done = stage.engine.compact(&stage.admin, store, 5, false).await.unwrap();
    let removed: Vec<&str> = done.removed.iter().map(MemoryPath::as_str).collect();
    assert_eq!(removed, ["/e1", "/e2", "/e3"]);
    let after = all(&stage, store).await;
    assert!(after.contains_key("/e0"));
    assert_eq!(text(&after[done.summaries[0].as_str()]), "second");
}
