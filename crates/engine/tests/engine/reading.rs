//! A reader beside the rules: what it finds is marked as its own, kept, held to the text, within a
//! budget, and gone with what it read or when it is forgotten. Whatever it does, rules go on.

use crate::stage::Stage;
use loci_engine::knowledge::{Fact, FactsQuery};
use loci_engine::reading::{
    Asked, Reader, ReadingOptions, Reply, Round, SPEAKER, Told, Unanswered, Utterance,
};
use loci_engine::{Context, Engine, Error};
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, Memory, MemoryPath, OnSame, Patch, StoreId,
    Visibility,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const NAME: &str = "test:reader";
const TOKENS: u64 = 100;

type Answer = dyn Fn(&str) -> Result<Vec<Told>, ()> + Send + Sync;

/// A reader that says what it is told to, and remembers what it was given.
struct Scripted {
    answer: Box<Answer>,
    given: Mutex<Vec<String>>,
}

impl Reader for Scripted {
    fn name(&self) -> &str {
        NAME
    }

    fn tokens_max(&self, _bytes: usize) -> u64 {
        TOKENS
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn read(&self, text: &Utterance<'_>, requests_max: u32) -> Asked {
        assert!(requests_max > 0, "asked without a budget");
        self.given.lock().unwrap().push(text.text.to_owned());
        let reply = match (self.answer)(text.text) {
            Ok(told) => Ok(Reply { told, shapeless: 0 }),
            Err(()) => Err(Unanswered { why: "status 500".into(), wait: None }),
        };
        Asked { requests: 1, tokens: TOKENS, reply }
    }
}

fn scripted(
    answer: impl Fn(&str) -> Result<Vec<Told>, ()> + Send + Sync + 'static,
) -> Arc<Scripted> {
    Arc::new(Scripted { answer: Box::new(answer), given: Mutex::default() })
}

fn reading(engine: &Engine, reader: &Arc<Scripted>, requests_per_day: u64) -> Engine {
    let (reader, stores) = (reader.clone(), None);
    let options = ReadingOptions { reader, stores, requests_per_day, tokens_per_day: 1_000_000 };
    engine.clone().with_reader(options)
}

fn told(relation: &str, object: &str, quote: &str) -> Told {
    let (subject, relation) = (SPEAKER.to_owned(), relation.to_owned());
    Told { subject, relation, object: object.into(), quote: quote.into(), ..Told::default() }
}

async fn facts(engine: &Engine, context: &Context, store: StoreId) -> Vec<Fact> {
    let query = FactsQuery { limit: 100, ..FactsQuery::default() };
    engine.known_facts(context, store, query).await.unwrap().items
}

/// What is known, each with who read it.
async fn known(engine: &Engine, context: &Context, store: StoreId) -> Vec<(String, String)> {
    let facts = facts(engine, context, store).await;
    let mut known: Vec<_> =
        facts.iter().map(|fact| (fact.text.clone(), fact.extractor().to_owned())).collect();
    known.sort();
    known
}

async fn put_hidden(stage: &Stage, store: StoreId, path: &str, text: &str) {
    let attributes = AttributesPatch {
        visibility: Patch::Set(Visibility::Internal),
        ..AttributesPatch::default()
    };
    let edit = Edit {
        at: At::Path(None, MemoryPath::parse(path).unwrap()),
        expect: Expect::Anything,
        on_same: OnSame::Skip,
        op: EditOp::Put { content: Some(Content::Text(text.into())), to: None, attributes },
    };
    stage.engine.commit_one(&stage.admin, store, edit, "api").await.unwrap();
}

fn pin(memory: &Memory) -> Edit {
    let attributes = AttributesPatch { pinned: Patch::Set(true), ..AttributesPatch::default() };
    Edit {
        at: At::Id(memory.id),
        expect: Expect::Anything,
        on_same: OnSame::Skip,
        op: EditOp::Put { content: None, to: None, attributes },
    }
}

const TEXT: &str = "I live in Rome. The choir is what I look forward to all week.";

fn choir() -> Told {
    told("InterestedIn", "choir", "The choir is what I look forward to all week")
}

#[tokio::test]
async fn what_a_reader_finds_is_marked_kept_and_goes_with_its_memory() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let reader = scripted(|_| Ok(vec![choir()]));
    let engine = reading(&stage.engine, &reader, 100);
    let admin = &stage.admin;
    let rules = ("User lives in Rome".to_owned(), "rules".to_owned());
    let memory = stage.put(store, "/one", TEXT).await.memory;
    assert_eq!(
        known(&engine, admin, store).await,
        std::slice::from_ref(&rules),
        "before it was read"
    );
    assert_eq!(engine.read_once().await.unwrap(), Round::Worked);
    assert_eq!(engine.read_once().await.unwrap(), Round::Idle);
    let both = known(&engine, admin, store).await;
    assert_eq!(both.len(), 2, "{both:?}");
    let found = facts(&engine, admin, store).await;
    let read = found.iter().find(|fact| fact.extractor() == NAME).unwrap();
    assert_eq!((read.trust.name(), &read.sources[..]), ("low", &[memory.id][..]));
    assert!(read.confidence < found.iter().find(|fact| fact.id != read.id).unwrap().confidence);
    // Without the reader it is known all the same, and after a start from nothing.
    stage.engine.commit_one(admin, store, pin(&memory), "api").await.unwrap();
    assert_eq!(known(&stage.engine, admin, store).await, both, "the text is the same");
    assert_eq!(engine.read_once().await.unwrap(), Round::Worked, "the feed went on");
    assert_eq!(reader.given.lock().unwrap().len(), 1, "nothing is read twice");
    let anew = stage.engine.clone().with_search(Default::default());
    assert_eq!(known(&anew, admin, store).await, both);
    stage.put(store, "/one", "I live in Rome.").await;
    assert_eq!(known(&engine, admin, store).await, [rules], "another text says other things");
    stage.put(store, "/one", TEXT).await;
    assert_eq!(known(&engine, admin, store).await, both);
    engine.erase(admin, store, memory.id).await.unwrap();
    assert!(known(&engine, admin, store).await.is_empty());
    assert_eq!(engine.check(admin).await.unwrap().readings, 0);
}

#[tokio::test]
async fn a_reader_does_not_contradict_rules_and_is_held_to_the_text() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let reader = scripted(|_| {
        let old = "I used to live in Oslo";
        Ok(vec![
            told("LivesAt", "Oslo", "I live in Rome, not in Oslo"),
            told("LivesAt", "Paris", "I live in Paris"),
            told("Adores", "Rome", "I live in Rome"),
            Told { since: Some("1999-01-01".into()), ..told("Likes", "Rome", "I live in Rome") },
            Told { subject: "Bob".into(), ..told("LivesAt", "Rome", "I live in Rome") },
            told("Owns", "house", "Should I buy a house"),
            told("LivesAt", "Oslo", old),
        ])
    });
    let engine = reading(&stage.engine, &reader, 100);
    let text = "I live in Rome, not in Oslo. Should I buy a house?";
    stage.put(store, "/one", text).await;
    let before = known(&stage.engine, &stage.admin, store).await;
    assert_eq!(engine.read_once().await.unwrap(), Round::Worked);
    assert_eq!(known(&engine, &stage.admin, store).await, before);
    let counts = engine.reading_counts().unwrap();
    let unfit = |name| counts.unfit.iter().find(|(why, _)| *why == name).unwrap().1;
    assert_eq!((counts.texts, counts.requests, counts.tokens), (1, 1, TOKENS));
    assert_eq!((unfit("quote"), unfit("relation"), unfit("time")), (2, 1, 1));
    assert_eq!((unfit("subject"), unfit("guard")), (1, 1));
}

#[tokio::test]
async fn what_is_hidden_and_what_nobody_said_is_not_given_away() {
    let stage = Stage::new().await;
    let (store, other) = (stage.store("notes").await.id, stage.store("other").await.id);
    let reader = scripted(|_| Ok(vec![]));
    let options = ReadingOptions {
        reader: reader.clone(),
        stores: Some(vec![store]),
        requests_per_day: 100,
        tokens_per_day: 1_000_000,
    };
    let engine = stage.engine.clone().with_reader(options);
    put_hidden(&stage, store, "/hidden", "I keep a secret.").await;
    stage.put(store, "/assistant", "Assistant: I can help with that.").await;
    stage.put(store, "/blank", " \n ").await;
    stage.put(other, "/elsewhere", "I live elsewhere.").await;
    stage.put(store, "/said", "I live in Rome.").await;
    while engine.read_once().await.unwrap() == Round::Worked {}
    assert_eq!(*reader.given.lock().unwrap(), ["I live in Rome."]);
    let none = ReadingOptions {
        reader: reader.clone(),
        stores: Some(Vec::new()),
        requests_per_day: 100,
        tokens_per_day: 1_000_000,
    };
    let engine = stage.engine.clone().with_reader(none);
    stage.put(store, "/more", "I live in Rome now.").await;
    assert_eq!(engine.read_once().await.unwrap(), Round::Idle, "no store is named");
}

#[tokio::test]
async fn a_budget_lasts_a_day_and_a_restart_does_not_renew_it() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let reader = scripted(|_| Ok(vec![]));
    for n in 0..5 {
        stage.put(store, &format!("/{n}"), &format!("Note number {n}.")).await;
    }
    let engine = reading(&stage.engine, &reader, 2);
    assert_eq!(engine.read_once().await.unwrap(), Round::Spent);
    assert_eq!(reader.given.lock().unwrap().len(), 2);
    let again = reading(&stage.engine, &reader, 2);
    assert_eq!(again.read_once().await.unwrap(), Round::Spent);
    assert_eq!(reader.given.lock().unwrap().len(), 2, "a new start is no new day");
    let status = again.reading_status(&stage.admin).await.unwrap();
    assert_eq!((status.spent.requests, status.spent.tokens), (2, 2 * TOKENS));
    assert_eq!((status.stores_behind, status.reader.as_deref()), (1, Some(NAME)));
    stage.pass_secs(86_400);
    assert_eq!(again.read_once().await.unwrap(), Round::Spent);
    assert_eq!(reader.given.lock().unwrap().len(), 4);
    stage.pass_secs(86_400);
    assert_eq!(again.read_once().await.unwrap(), Round::Worked);
    assert_eq!(reader.given.lock().unwrap().len(), 5);
    assert_eq!(again.reading_status(&stage.admin).await.unwrap().stores_behind, 0);
    // Tokens count as requests do, and what could go beyond is not asked.
    let options = ReadingOptions {
        reader: reader.clone(),
        stores: None,
        requests_per_day: 100,
        tokens_per_day: 2 * TOKENS - 1,
    };
    let engine = stage.engine.clone().with_reader(options);
    stage.put(store, "/last", "One more note.").await;
    assert_eq!(engine.read_once().await.unwrap(), Round::Spent);
    assert_eq!(reader.given.lock().unwrap().len(), 5);
}

#[tokio::test]
async fn who_does_not_answer_is_asked_again_and_a_text_nobody_takes_is_left() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let reader = scripted(|text| if text.contains("poison") { Err(()) } else { Ok(vec![choir()]) });
    let engine = reading(&stage.engine, &reader, 100);
    stage.put(store, "/poison", "I live in Rome with poison.").await;
    let rules = known(&engine, &stage.admin, store).await;
    assert_eq!(rules.len(), 1);
    for _ in 0..3 {
        assert_eq!(engine.read_once().await.unwrap(), Round::Failed(None));
    }
    assert_eq!(known(&engine, &stage.admin, store).await, rules, "rules go on");
    assert_eq!(engine.reading_counts().unwrap().failures, 3);
    assert_eq!(engine.reading_status(&stage.admin).await.unwrap().spent.requests, 3);
    stage.put(store, "/good", TEXT).await;
    assert_eq!(engine.read_once().await.unwrap(), Round::Worked);
    assert_eq!(engine.read_once().await.unwrap(), Round::Idle, "it keeps nobody waiting");
    assert_eq!(engine.reading_counts().unwrap().given_up, 1);
    let all = known(&engine, &stage.admin, store).await;
    assert!(all.iter().any(|(_, by)| by == NAME), "{all:?}");
}

#[tokio::test]
async fn a_reader_is_forgotten_by_name_and_the_log_tells() {
    let stage = Stage::new().await;
    let store = stage.store("notes").await.id;
    let reader = scripted(|_| Ok(vec![choir()]));
    let engine = reading(&stage.engine, &reader, 100);
    stage.put(store, "/one", TEXT).await;
    engine.read_once().await.unwrap();
    assert_eq!(known(&engine, &stage.admin, store).await.len(), 2);
    let nobody = stage.somebody("nobody").await;
    let refused = engine.forget_reader(&nobody, NAME).await;
    assert!(matches!(refused, Err(Error::Denied(_))), "{refused:?}");
    assert!(engine.forget_reader(&stage.admin, "").await.is_err());
    engine.forget_reader(&stage.admin, "somebody:else").await.unwrap();
    assert_eq!(known(&engine, &stage.admin, store).await.len(), 2);
    engine.forget_reader(&stage.admin, NAME).await.unwrap();
    let left = known(&engine, &stage.admin, store).await;
    assert_eq!(left, [("User lives in Rome".to_owned(), "rules".to_owned())]);
    assert_eq!(engine.read_once().await.unwrap(), Round::Idle, "nothing is read again for it");
    let events = engine.events(&stage.admin, 0, 100).await.unwrap();
    let told = events.iter().filter(|event| event.kind == "reader_forgotten");
    let told: Vec<_> = told.filter_map(|event| event.detail.as_deref()).collect();
    assert_eq!(told, ["somebody:else", NAME]);
}
