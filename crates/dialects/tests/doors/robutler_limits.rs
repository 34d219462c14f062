//! What transcripts cannot show of the Robutler door: answers that hold only so much, and many
//! writers of one entry at once.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use http_body_util::BodyExt;
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, Identified, NewGrant, NewPrincipal, NewStore, Purpose};
use loci_model::store::Who;
use loci_model::{
    Audience, Edit, Grantee, Level, MemoryPath, PrincipalKind, RequestId, StorePolicy, limit,
};
use loci_storage_memory::MemStorage;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

struct World {
    engine: Engine,
    router: Router,
}

impl World {
    async fn new() -> Self {
        let engine = Engine::new(Arc::new(MemStorage::new()), Seams::real());
        engine.bootstrap(None).await.unwrap();
        let router = loci_dialects::robutler::router(engine.clone());
        Self { engine, router }
    }

    async fn agent(&self, name: &str) -> Context {
        let caller = self.engine.authenticate_agent(name, Audience::Host, None).await.unwrap();
        Context { caller, request: RequestId::from_u128(1), idempotency: None }
    }

    async fn ask(&self, who: &str, method: Method, url: &str, body: Option<Value>) -> (u16, Value) {
        let identified = Identified(Arc::new(Ok(self.agent(who).await)));
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = Request::builder().method(method).uri(url).extension(identified);
        let answer = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// Memories of an agent, in batches.
    async fn fill(&self, who: &str, count: usize, content: &str) {
        let context = self.agent(who).await;
        let home = self.engine.store_named(&context, who, Purpose::Write).await.unwrap().unwrap();
        let numbers: Vec<usize> = (0..count).collect();
        for batch in numbers.chunks(1000) {
            let edit = |number: &usize| {
                let path = MemoryPath::parse(&format!("/fill-{number:05}")).unwrap();
                Edit::put_text(path, content)
            };
            let edits = batch.iter().map(edit).collect();
            self.engine.commit_tree(&context, home, edits, "fill").await.unwrap();
        }
    }
}

const MEMORY: &str = "/api/storage/memory";

#[tokio::test]
async fn a_list_holds_a_thousand_entries_and_says_when_there_are_more() {
    let world = World::new().await;
    world.fill("ada", 1000, "x").await;
    let list = |query: &'static str| {
        let world = &world;
        async move { world.ask("ada", Method::GET, &format!("{MEMORY}{query}"), None).await.1 }
    };
    let whole = list("").await;
    assert_eq!(whole["entries"].as_array().unwrap().len(), 1000);
    assert_eq!(whole.get("truncated"), None);
    let (status, _) =
        world.ask("ada", Method::PUT, &format!("{MEMORY}/more"), Some(json!({"value": 1}))).await;
    assert_eq!(status, 200);
    let cut = list("").await;
    assert_eq!(cut["entries"].as_array().unwrap().len(), 1000);
    assert_eq!(cut["truncated"], true);
    let found = list("?prefix=mo").await;
    assert_eq!(found["entries"].as_array().unwrap().len(), 1);
    assert_eq!(found.get("truncated"), None);
}

#[tokio::test]
async fn a_list_holds_so_many_bytes() {
    let world = World::new().await;
    world.fill("ada", 100, &"x".repeat(100_000)).await;
    let (status, list) = world.ask("ada", Method::GET, MEMORY, None).await;
    let shown = list["entries"].as_array().unwrap().len();
    assert_eq!((status, shown, &list["truncated"]), (200, 83, &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_one_entry_do_not_stop_each_other() {
    let world = Arc::new(World::new().await);
    let all: Vec<_> = (0..20)
        .map(|number| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let url = format!("{MEMORY}/plan");
                let body = json!({ "value": number, "inContext": number != 3 });
                world.ask("ada", Method::PUT, &url, Some(body)).await.0
            })
        })
        .collect();
    for one in all {
        assert_eq!(one.await.unwrap(), 200);
    }
    let (_, list) = world.ask("ada", Method::GET, MEMORY, None).await;
    assert_eq!(list["entries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_stranger_makes_nobody() {
    let world = World::new().await;
    world.fill("ada", 1, "x").await;
    let url = format!("{MEMORY}?action=share");
    let body = json!({ "store": "ada", "grantee": "stillborn" });
    assert_eq!(world.ask("bob", Method::POST, &url, Some(body)).await.0, 403);
    let spoofed = format!("{MEMORY}?agentId=stillborn");
    assert_eq!(world.ask("bob", Method::GET, &spoofed, None).await.0, 403);
    let ada = world.agent("ada").await;
    assert!(world.engine.named(&ada, "stillborn").await.unwrap().is_none());
    let body = json!({ "grantee": "newcomer" });
    assert_eq!(world.ask("ada", Method::POST, &url, Some(body)).await.0, 200);
    assert!(world.engine.named(&ada, "newcomer").await.unwrap().is_some());
}

#[tokio::test]
async fn a_store_that_was_searched_too_often_is_left_out() {
    let world = World::new().await;
    world.fill("ada", 1, "boats").await;
    world.fill("bob", 1, "boats").await;
    let share = json!({ "grantee": "bob", "level": "search" });
    let url = format!("{MEMORY}?action=share");
    assert_eq!(world.ask("ada", Method::POST, &url, Some(share)).await.0, 200);
    let search = format!("{MEMORY}?action=search&q=boats");
    let (_, both) = world.ask("bob", Method::GET, &search, None).await;
    assert_eq!(both["entries"].as_array().unwrap().len(), 2);
    let named = format!("{search}&store=ada");
    for _ in 1..limit::GUARDED_SEARCHES_PER_MINUTE {
        assert_eq!(world.ask("bob", Method::GET, &named, None).await.0, 200);
    }
    assert_eq!(world.ask("bob", Method::GET, &named, None).await.0, 429);
    let (status, own) = world.ask("bob", Method::GET, &search, None).await;
    assert_eq!(status, 200);
    let entries = own["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["storeId"]), (1, &json!("bob")));
}

/// Two hundred characters fit whatever they are, and come back.
#[tokio::test]
async fn a_long_key_is_kept_and_told() {
    let world = World::new().await;
    for (n, unit) in ["\u{200b}", "/%", "\u{1}", "e\u{301}"].into_iter().enumerate() {
        let key: String = unit.chars().cycle().take(200).collect();
        let escaped: String = key.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let url = format!("{MEMORY}/{escaped}");
        for value in ["first words", "boats"] {
            let body = json!({ "value": format!("{value} {n}") });
            let (status, answer) = world.ask("ada", Method::PUT, &url, Some(body)).await;
            assert_eq!(status, 200, "{unit:?}: {answer}");
        }
        let (_, entry) = world.ask("ada", Method::GET, &url, None).await;
        assert_eq!((&entry["key"], &entry["value"]), (&json!(key), &json!(format!("boats {n}"))));
        let list = format!("{MEMORY}?prefix={}", &escaped[..36]);
        let (_, list) = world.ask("ada", Method::GET, &list, None).await;
        assert_eq!(list["entries"][0]["key"], json!(key));
        let search = format!("{MEMORY}?action=search&q=boats");
        let (_, found) = world.ask("ada", Method::GET, &search, None).await;
        assert_eq!(found["entries"][0]["key"], json!(key));
        assert_eq!(world.ask("ada", Method::DELETE, &url, None).await.0, 200);
        assert_eq!(world.ask("ada", Method::GET, &url, None).await.0, 404);
    }
    let url = format!("{MEMORY}/{}", "%E2%80%8B".repeat(201));
    assert_eq!(world.ask("ada", Method::PUT, &url, Some(json!({ "value": 1 }))).await.0, 400);
}

#[tokio::test]
async fn names_are_told_apart_only_so_often_by_sharing() {
    let world = World::new().await;
    for who in ["ada", "eve", "known"] {
        world.fill(who, 1, "x").await;
    }
    let chat = NewPrincipal { kind: PrincipalKind::Group, name: "room".into(), is_admin: false };
    let workspace = world.agent("ada").await.caller.workspace;
    world.engine.declare_principal(workspace, chat).await.unwrap();
    let url = format!("{MEMORY}?action=share");
    let share = async |who: &str, grantee: &str| {
        world.ask(who, Method::POST, &url, Some(json!({ "grantee": grantee }))).await.0
    };
    for _ in 0..limit::UNKNOWN_NAMES_PER_DAY {
        assert_eq!(share("ada", "room").await, 400, "a chat");
    }
    for name in ["room", "known", "nobody yet"] {
        assert_eq!(share("ada", name).await, 429, "{name}");
    }
    let known = world.agent("known").await.caller.principal.to_string();
    assert_eq!(share("ada", &known).await, 200, "ids go on");
    assert_eq!(share("eve", "known").await, 200, "each is counted alone");
    // Agents that nobody has heard of are as many as they may be, and then all names are alike.
    for number in 0..limit::NEWCOMERS_PER_DAY {
        assert_eq!(share("eve", &format!("new-{number}")).await, 200);
    }
    for name in ["known", "room", "one more", "new-1"] {
        assert_eq!(share("eve", name).await, 429, "{name}");
    }
}

/// Who may delete in a store that was not made through this door is what the store says.
#[tokio::test]
async fn a_store_of_its_own_says_who_deletes_in_it() {
    for (remove, status) in [(Who::Writer, 200), (Who::Owner, 403)] {
        let world = World::new().await;
        let (ada, bob) = (world.agent("ada").await, world.agent("bob").await);
        let policy = StorePolicy { remove, ..StorePolicy::default() };
        let new = NewStore { name: "plans".into(), policy, ..NewStore::default() };
        let store = world.engine.create_store(&ada, new).await.unwrap().id;
        let grantee = Grantee::Principal(bob.caller.principal);
        let grant = NewGrant { grantee, level: Level::ReadWrite, expires_at: None };
        world.engine.share(&ada, store, grant).await.unwrap();
        let url = format!("{MEMORY}/plan?store={store}");
        let value = json!({ "value": "boats" });
        assert_eq!(world.ask("ada", Method::PUT, &url, Some(value)).await.0, 200);
        let (deleted, why) = world.ask("bob", Method::DELETE, &url, None).await;
        assert_eq!(deleted, status, "{remove:?}: {why}");
        let is_there = world.ask("ada", Method::GET, &url, None).await.0 == 200;
        assert_eq!(is_there, status == 403, "{remove:?}");
        let by_owner = world.ask("ada", Method::DELETE, &url, None).await.0;
        assert_eq!(by_owner, if is_there { 200 } else { 404 }, "its owner may");
    }
}
