//! The routes about the data as a whole: a check reports, a backup opens, an export comes in
//! elsewhere. Over the in-memory storage where any will do, over SQLite where files matter.

use crate::common::{ADMIN, Server};
use axum::Router;
use axum::body::Body;
use http::Request;
use loci_engine::Engine;
use loci_engine::seam::Seams;
use loci_http::HttpOptions;
use loci_model::{At, Content, MemoryPath, View};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tower::ServiceExt;

fn open(dir: &Path) -> Arc<SqliteStorage> {
    Arc::new(SqliteStorage::open(dir, SqliteOptions::default()).expect("the directory is fresh"))
}

#[tokio::test]
async fn a_backup_is_a_whole_database() {
    let (data, scratch, copy) = three_dirs();
    let options = HttpOptions { scratch_dir: scratch.path().to_owned(), ..HttpOptions::default() };
    let server = Server::over(open(data.path()), &options, Router::new()).await;
    let store = server.store("s").await;
    server.put(store, "/a", "kept").await;

    let reply = server.get("/v1/backup").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.headers["content-type"], "application/vnd.sqlite3");
    assert_eq!(reply.headers["content-length"], reply.bytes.len().to_string());
    assert!(reply.bytes.starts_with(b"SQLite format 3\0"));
    assert_eq!(scratch.path().read_dir().unwrap().count(), 0, "nothing is left behind");

    std::fs::write(copy.path().join("loci.db"), &reply.bytes).unwrap();
    let copied = Engine::new(open(copy.path()), Seams::real());
    let at = At::Path(None, MemoryPath::parse("/a").unwrap());
    let memory = copied.get(&server.context(), store, &at, View::Full).await.unwrap();
    assert_eq!(memory.content.as_ref().and_then(Content::text), Some("kept"));
}

#[tokio::test]
async fn backups_do_not_fill_the_disk_with_copies() {
    let (data, scratch, _) = three_dirs();
    let options = HttpOptions { scratch_dir: scratch.path().to_owned(), ..HttpOptions::default() };
    let server = Server::over(open(data.path()), &options, Router::new()).await;
    let ask = || {
        let request = Request::get("/v1/backup").header("x-api-key", ADMIN);
        server.router.clone().oneshot(request.body(Body::empty()).unwrap())
    };
    // Answered, and not read yet.
    let first = ask().await.unwrap();
    let second = ask().await.unwrap();
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 200));
    let third = server.get("/v1/backup").await;
    third.refused(503, "api_error");
    assert_eq!(third.headers["retry-after"], "5");
    drop(first);
    assert_eq!(server.get("/v1/backup").await.status, 200);
    drop(second);
}

/// A copy begun before an erasure holds what was erased, also when it has no name any more.
#[tokio::test]
async fn an_erasure_waits_for_a_backup_that_is_still_being_sent() {
    let (data, scratch, _) = three_dirs();
    let options = HttpOptions { scratch_dir: scratch.path().to_owned(), ..HttpOptions::default() };
    let server = Server::over(open(data.path()), &options, Router::new()).await;
    let store = server.store("s").await;
    let memory = server.put(store, "/a", "private").await;
    let request = Request::get("/v1/backup").header("x-api-key", ADMIN);
    let request = request.body(Body::empty()).unwrap();
    let unread = server.router.clone().oneshot(request).await.unwrap();
    assert_eq!(unread.status(), 200);
    let url = format!("/v1/memory_stores/{store}/memories/{}/erase", memory.id);
    let waiting = server.post(&url, Value::Null).await;
    waiting.refused(503, "api_error");
    assert!(waiting.headers.contains_key("retry-after"));
    drop(unread);
    assert_eq!(server.post(&url, Value::Null).await.ok()["type"], "memory_erased");
}

#[tokio::test]
async fn an_export_comes_in_elsewhere_and_both_are_sound() {
    let (data, scratch, other) = three_dirs();
    let options = HttpOptions { scratch_dir: scratch.path().to_owned(), ..HttpOptions::default() };
    let server = Server::over(open(data.path()), &options, Router::new()).await;
    let store = server.store("s").await;
    server.put(store, "/a", "text").await;
    assert_eq!(server.post("/v1/check", Value::Null).await.ok()["ok"], true);
    let export = server.get("/v1/export").await;
    assert_eq!(export.status, 200);

    let target = Server::over(open(other.path()), &options, Router::new()).await;
    let import = Request::post("/v1/import").header("x-api-key", ADMIN);
    let imported = target.send(import.body(Body::from(export.bytes)).unwrap()).await.ok();
    assert!(imported["items"].as_u64().unwrap() > 1, "{imported}");
    let report = target.post("/v1/check", Value::Null).await.ok();
    assert_eq!((&report["ok"], &report["memories"]), (&true.into(), &1.into()), "{report}");
}

#[tokio::test]
async fn a_check_reports() {
    let server = Server::new().await;
    let store = server.store("s").await;
    server.put(store, "/a", "text").await;
    let report = server.post("/v1/check", Value::Null).await.ok();
    assert_eq!((&report["type"], &report["ok"]), (&json!("check"), &json!(true)));
    assert_eq!((&report["stores"], &report["memories"]), (&json!(1), &json!(1)));
    assert_eq!(report["problems"], json!([]));
}

#[tokio::test]
async fn a_check_compares_the_audit_log_with_an_end_that_was_kept() {
    let server = Server::new().await;
    let kept = server.post("/v1/check", Value::Null).await.ok()["audit_end"].clone();
    let kept = kept.as_str().unwrap();
    let (seq, hash) = kept.split_once(':').unwrap();
    let events = server.get("/v1/events?before=0&limit=1").await.ok();
    assert_eq!(events["data"][0]["seq"].to_string(), seq);
    assert_eq!(events["data"][0]["hash"], hash);
    server.post("/v1/api_keys", json!({"name": "later"})).await.ok();
    let check = async |end: &str| {
        let report = server.post(&format!("/v1/check?audit_end={end}"), Value::Null).await;
        report.ok()
    };
    let report = check(kept).await;
    assert_eq!((&report["ok"], &report["problems"]), (&json!(true), &json!([])));
    assert_ne!(report["audit_end"], kept, "it goes on");
    let zeros = "0".repeat(64);
    assert_eq!(check(&format!("0:{zeros}")).await["ok"], true, "every log begins there");
    for other in [format!("{seq}:{zeros}"), format!("99:{hash}"), format!("0:{hash}")] {
        let report = check(&other).await;
        let problem = report["problems"][0].as_str().unwrap();
        assert!(problem.contains("as it was kept elsewhere"), "{other}: {problem}");
    }
    let refused = server.post("/v1/check?audit_end=7", Value::Null).await;
    assert_eq!(refused.status, 400);
}

#[tokio::test]
async fn a_failed_backup_leaves_nothing_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let options = HttpOptions { scratch_dir: scratch.path().to_owned(), ..HttpOptions::default() };
    let server = Server::with(&options, Router::new()).await;
    // The in-memory storage has no file to copy.
    assert!(server.get("/v1/backup").await.status >= 400);
    assert_eq!(scratch.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn an_export_can_be_imported_elsewhere() {
    let server = Server::new().await;
    let store = server.store("s").await;
    for number in 0..1200 {
        server.put(store, &format!("/{number}"), &format!("text {number}\n")).await;
    }
    let export = server.get("/v1/export").await;
    assert_eq!(
        (export.status, &export.headers["content-type"]),
        (200, &"application/x-ndjson".parse().unwrap())
    );

    let other = Server::new().await;
    let import = |bytes: bytes::Bytes| {
        // In odd pieces, so that lines are cut anywhere.
        let pieces: Vec<_> =
            bytes.chunks(777).map(|piece| Ok::<_, std::io::Error>(piece.to_vec())).collect();
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let request = Request::post("/v1/import").header("x-api-key", ADMIN);
        other.send(request.body(body).unwrap())
    };
    let imported = import(export.bytes.clone()).await.ok();
    assert_eq!(imported["type"], "import");
    assert!(imported["items"].as_u64().unwrap() > 1200, "{imported}");
    assert_eq!(import(export.bytes.clone()).await.ok()["items"], 0, "nothing is new");
    let stats = |server: &Server| server.engine.clone();
    let (ours, theirs) = (stats(&server), stats(&other));
    let ours = ours.stats(&server.context(), store).await.unwrap();
    let theirs = theirs.stats(&other.context(), store).await.unwrap();
    assert_eq!(ours, theirs);

    import("not a line\n".into()).await.refused(400, "invalid_request_error");
    import(vec![0xff, 0xfe, b'\n'].into()).await.refused(400, "invalid_request_error");
    import(vec![b'x'; 5 << 20].into()).await.refused(400, "invalid_request_error");
    assert_eq!(import("".into()).await.ok()["items"], 0);
}

fn three_dirs() -> (tempfile::TempDir, tempfile::TempDir, tempfile::TempDir) {
    let dir = || tempfile::tempdir().expect("there is room for a directory");
    (dir(), dir(), dir())
}
