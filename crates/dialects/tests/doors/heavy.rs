//! What takes long does not run on the threads that answer requests, whichever door it comes through.
//! Here there is one such thread, and the system says how much of it a request took: next to nothing of
//! the time that passed.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use loci_dialects::tool::ToolOptions;
use loci_dialects::{anthropic, kilroy, mobius, robutler, tool};
use loci_engine::seam::Seams;
use loci_engine::{Context, Engine, Identified};
use loci_model::RequestId;
use loci_storage_memory::MemStorage;
use loci_test_kit::{HandClock, counting_bytes};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower::ServiceExt;

const MEMORIES: usize = 40;
/// Bytes of each, about.
const BYTES: usize = 60_000;
/// What is done sooner is not measured: a listing out of memory consists of reading it.
const COUNTED_FROM: Duration = Duration::from_millis(20);

/// Text without repetition, in which some words are the ones that are looked for.
fn text(number: usize) -> String {
    let mut text = format!("Anna works for company {number}. ");
    for word in 0.. {
        if text.len() > BYTES {
            break;
        }
        let other = (number * 7_919 + word * 104_729) % 1_000_003;
        let _ = write!(text, "The harbour w{other} settled boats{word} leaving. ");
    }
    text
}

struct World {
    context: Context,
    router: Router,
}

impl World {
    async fn new() -> Self {
        let clock = Arc::new(HandClock::at("2026-03-01T00:00:00Z"));
        let engine = Engine::new(
            Arc::new(MemStorage::new()),
            Seams::new(clock, Arc::new(counting_bytes(1))),
        );
        let start = engine.bootstrap(None).await.unwrap();
        let caller = engine.local_operator(&start);
        let context = Context { caller, request: RequestId::from_u128(7), idempotency: None };
        let router = anthropic::router(engine.clone())
            .merge(kilroy::router(engine.clone()))
            .merge(mobius::router(engine.clone()))
            .merge(robutler::router(engine.clone()))
            .merge(tool::router(engine, ToolOptions::default()));
        Self { context, router }
    }

    /// The answer, and how long it took altogether and on the thread that answers.
    async fn send(&self, method: &str, uri: &str, body: &Value) -> (Value, Duration, Duration) {
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let request = Request::builder().method(method).uri(uri);
        let request = request.header("anthropic-beta", "managed-agents-2026-04-01");
        let request = request.extension(Identified(Arc::new(Ok(self.context.clone()))));
        let request = request.body(body).unwrap();
        let (began, ran) = (Instant::now(), thread_ran());
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (took, ran) = (began.elapsed(), thread_ran() - ran);
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!((200..300).contains(&status), "{method} {uri}: {status} {body:?}");
        (serde_json::from_slice(&body).unwrap_or_default(), took, ran)
    }
}

/// How long this thread has run, as the system counts it.
fn thread_ran() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

fn kilroy_url(block: &str) -> String {
    format!("/api/v1/pd/webhook_sync/TOKEN/kilroy.ai.webhooks/{block}")
}

fn to_kilroy(text: &str) -> Value {
    let targs = json!({"memory_id": "instances/a/memories"}).to_string();
    json!({"tagentname": "notes", "tid": "t", "targs": targs, "args": [{"text": text}]})
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn requests_that_take_long_leave_the_threads_that_answer_free() {
    let world = World::new().await;
    let made = world.send("POST", "/v1/memory_stores", &json!({"name": "large"})).await.0;
    let store = format!("/v1/memory_stores/{}", made["id"].as_str().unwrap());
    for number in 0..MEMORIES {
        let text = text(number);
        // Longer ones this door does not take.
        let entry = json!({"content": text[..16_000]});
        for (method, uri, body) in [
            (
                "POST",
                format!("{store}/memories"),
                json!({"path": format!("/{number}"), "content": text}),
            ),
            ("POST", kilroy_url("memory_write"), to_kilroy(&text)),
            ("PUT", format!("/v1/agents/busy/memory/entries/k{number}"), entry),
            ("PUT", format!("/api/storage/memory/k{number}?agentId=busy"), json!({"value": text})),
        ] {
            world.send(method, &uri, &body).await;
        }
    }
    let searching =
        json!({"command": "search", "query": "settled harbour", "agentId": "busy", "limit": 50});
    let mut counted = Vec::new();
    for (method, uri, body) in [
        ("GET", format!("{store}/memories?view=full&limit=20"), Value::Null),
        ("GET", format!("{store}/memory_versions?view=full&limit=20"), Value::Null),
        ("POST", kilroy_url("memory_read"), to_kilroy("")),
        ("POST", kilroy_url("memory_search"), to_kilroy("harbour settled")),
        ("POST", kilroy_url("memory_search"), to_kilroy("the")),
        ("GET", "/v1/agents/busy/memory/entries?limit=100".to_owned(), Value::Null),
        (
            "GET",
            "/v1/agents/busy/memory/entries?limit=100&query=harbour+leaving".to_owned(),
            Value::Null,
        ),
        ("GET", "/v1/agents/busy/memory/context?mode=index".to_owned(), Value::Null),
        ("GET", "/api/storage/memory?agentId=busy".to_owned(), Value::Null),
        ("GET", "/api/storage/memory?agentId=busy&action=search&q=harbour".to_owned(), Value::Null),
        ("POST", "/v1/tools/memory".to_owned(), searching),
    ] {
        // The first one also reads the store into an index.
        for is_counted in [false, true] {
            let (_, took, ran) = world.send(method, &uri, &body).await;
            if is_counted && took > COUNTED_FROM {
                assert!(ran * 3 < took, "{uri} ran for {ran:?} of {took:?} where it is answered");
                counted.push(uri.clone());
            }
        }
    }
    println!("counted: {counted:?}");
}
