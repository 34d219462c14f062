//! A hundred writers of one thing at once, at every door that reads before it writes, over the real
//! storage engine: there, others come in between. Nobody is sent away, and nothing is lost.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use loci_dialects::{robutler, tool};
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, Identified, Purpose};
use loci_model::{At, Audience, Content, Edit, Memory, MemoryPath, RequestId, StoreId, View};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tower::ServiceExt;

const WRITERS: usize = 100;
const MEMORY: &str = "/api/storage/memory";
const SCOPED: &str = "/api/storage/memory-scoped";
const TOOL: &str = "/v1/tools/memory";

struct World {
    engine: Engine,
    router: Router,
    _dir: TempDir,
}

impl World {
    async fn new() -> Arc<Self> {
        let dir = TempDir::new().unwrap();
        let storage = SqliteStorage::open(dir.path(), SqliteOptions::default()).unwrap();
        let engine = Engine::new(Arc::new(storage), Seams::real());
        engine.bootstrap(None).await.unwrap();
        let router = robutler::router(engine.clone());
        let router = router.merge(tool::router(engine.clone(), tool::ToolOptions::default()));
        Arc::new(Self { engine, router, _dir: dir })
    }

    async fn ada(&self) -> Context {
        let caller = self.engine.authenticate_agent("ada", Audience::Host, None).await.unwrap();
        Context { caller, request: RequestId::from_u128(1), idempotency: None }
    }

    async fn home(&self) -> StoreId {
        let ada = self.ada().await;
        self.engine.store_named(&ada, "ada", Purpose::Write).await.unwrap().unwrap()
    }

    async fn ask(&self, method: &str, url: &str, body: Value) -> (u16, Value) {
        let identified = Identified(Arc::new(Ok(self.ada().await)));
        let request = Request::builder().method(method).uri(url).extension(identified);
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    /// Everybody asks at once and is answered.
    async fn crowd(
        self: &Arc<Self>,
        method: &'static str,
        url: &'static str,
        body: impl Fn(usize) -> Value,
    ) {
        let mut asking = JoinSet::new();
        for number in 0..WRITERS {
            let (world, body) = (Arc::clone(self), body(number));
            asking.spawn(async move { world.ask(method, url, body).await });
        }
        for (status, answer) in asking.join_all().await {
            assert_eq!(status, 200, "{url}: {answer}");
            assert_ne!(answer["is_error"], true, "{url}: {answer}");
        }
    }

    async fn memory(&self, store: StoreId, path: &str) -> Memory {
        let at = At::Path(None, MemoryPath::parse(path).unwrap());
        self.engine.get(&self.ada().await, store, &at, View::Full).await.unwrap()
    }
}

/// Of those who write the whole, each is in the history.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn values() {
    let world = World::new().await;
    let value = |number| json!({ "key": "note", "value": number, "inContext": number != 3 });
    world.crowd("PUT", "/api/storage/memory/plan", value).await;
    world.crowd("PUT", "/api/storage/kv/list", value).await;
    world.crowd("POST", "/api/kv", value).await;
    let home = world.home().await;
    for path in ["/plan", "/list", "/note"] {
        assert_eq!(world.memory(home, path).await.revision, WRITERS as u64, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn notes() {
    let world = World::new().await;
    let note = |number: usize| {
        let content = number.to_string();
        json!({ "namespace": "owner", "key": "one", "content": content, "source": "tool" })
    };
    world.crowd("PUT", SCOPED, note).await;
    let ada = world.ada().await;
    let store = world.engine.callers_store(&ada, Purpose::Read).await.unwrap().unwrap();
    assert_eq!(world.memory(store, "/owner/one").await.revision, WRITERS as u64);
    let pushed = |number: usize| {
        let at = format!("2030-01-01T00:00:00.{number:03}Z");
        let (op, content) =
            (if number.is_multiple_of(2) { "put" } else { "delete" }, number.to_string());
        let line = json!({ "op": op, "key": "two", "content": content, "at": at });
        json!({ "namespace": "owner", "lines": [line] })
    };
    world.crowd("POST", "/api/storage/memory-scoped?action=sync", pushed).await;
}

/// Of those who change a part, every part is changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn texts() {
    let world = World::new().await;
    let slots: String = (0..WRITERS).map(|n| format!("slot {n};\n")).collect();
    let mut all: Vec<String> = (0..WRITERS).map(|n| format!("done {n};")).collect();
    all.sort_unstable();
    for (command, text) in [("insert", "end\n"), ("str_replace", &slots), ("edit", &slots)] {
        let path = format!("/memories/{command}");
        let file = json!({ "command": "create", "path": path, "file_text": text });
        assert_eq!(world.ask("POST", TOOL, file).await.1["is_error"], false);
        let change = |number: usize| {
            let (old, new) = (format!("slot {number};"), format!("done {number};"));
            match command {
                "insert" => {
                    json!({ "command": command, "path": path, "insert_line": 0, "insert_text": new })
                }
                _ => json!({ "command": command, "path": path, "old_str": old, "new_str": new }),
            }
        };
        world.crowd("POST", TOOL, change).await;
        let memory = world.memory(world.home().await, &format!("/{command}")).await;
        let text = memory.content.as_ref().and_then(Content::text).unwrap();
        let mut lines: Vec<&str> = text.lines().filter(|line| *line != "end").collect();
        lines.sort_unstable();
        assert_eq!(lines, all, "{command}");
    }
}

/// What others keep changing without looking is written and edited all the same, and a flag that
/// was not named stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn against_those_who_never_look() {
    let world = World::new().await;
    let url = "/api/storage/memory/busy";
    let first = json!({ "value": "", "inContext": false });
    assert_eq!(world.ask("PUT", url, first).await.0, 200);
    let file = json!({ "command": "create", "path": "/memories/text", "file_text": "count 0" });
    assert_eq!(world.ask("POST", TOOL, file).await.1["is_error"], false);
    let (home, is_over) = (world.home().await, Arc::new(AtomicBool::new(false)));
    let mut hurried = JoinSet::new();
    for who in 0..4 {
        let (world, is_over) = (Arc::clone(&world), Arc::clone(&is_over));
        hurried.spawn(async move {
            let context = world.ada().await;
            let path = |text: &str| MemoryPath::parse(text).unwrap();
            for number in 0.. {
                let edits = vec![
                    Edit::put_text(path("/busy"), format!("{who} {number}")),
                    Edit {
                        op: loci_model::EditOp::Append {
                            text: String::from("."),
                            separator: loci_model::edit::Separator::default(),
                            to: None,
                            attributes: loci_model::AttributesPatch::default(),
                        },
                        ..Edit::put_text(path("/text"), "")
                    },
                ];
                world.engine.commit(&context, home, edits, "api").await.unwrap();
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
    }
    for number in 0..20 {
        let (status, answer) = world.ask("PUT", url, json!({ "value": number })).await;
        assert_eq!(status, 200, "{answer}");
        let (old, new) = (format!("count {number}"), format!("count {}", number + 1));
        let edit = json!({ "command": "str_replace", "path": "/memories/text", "old_str": old, "new_str": new });
        let (status, answer) = world.ask("POST", TOOL, edit).await;
        assert_eq!((status, &answer["is_error"]), (200, &json!(false)), "{answer}");
    }
    is_over.store(true, Ordering::Relaxed);
    hurried.join_all().await;
    let shown = world.ask("GET", &format!("{MEMORY}/busy"), Value::Null).await.1;
    assert_eq!(shown["inContext"], false, "{shown}");
    let text = world.memory(home, "/text").await;
    let text = text.content.as_ref().and_then(Content::text).unwrap();
    assert!(text.starts_with("count 20."), "{text}");
}
