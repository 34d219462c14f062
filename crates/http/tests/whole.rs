//! The routes about the data as a whole, over the real SQLite storage, where they take their time:
//! what they give, and that no request timeout cuts them.

mod common;

use axum::Router;
use axum::body::Body;
use common::{ADMIN, Server};
use http::Request;
use loci_engine::Engine;
use loci_engine::seam::Seams;
use loci_http::HttpOptions;
use loci_model::{At, Content, MemoryPath, View};
use loci_storage_sqlite::{SqliteOptions, SqliteStorage};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn open(dir: &Path) -> Arc<SqliteStorage> {
    Arc::new(SqliteStorage::open(dir, SqliteOptions::default()).unwrap())
}

/// No request may wait for anything: whatever is not ready at once is over time.
fn no_time(scratch_dir: &Path) -> HttpOptions {
    HttpOptions {
        request_timeout: Duration::ZERO,
        scratch_dir: scratch_dir.to_owned(),
        ..HttpOptions::default()
    }
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
async fn what_takes_as_long_as_the_data_is_large_is_not_cut() {
    let (data, scratch, other) = three_dirs();
    let server = Server::over(open(data.path()), &no_time(scratch.path()), Router::new()).await;
    let store = server.store("s").await;
    server.put(store, "/a", "text").await;

    // A write waits for the disk.
    let wanted = json!({"name": "ada"});
    server.post("/v1/principals", wanted).await.refused(408, "timeout_error");
    assert_eq!(server.post("/v1/check", Value::Null).await.ok()["ok"], true);
    assert!(server.get("/v1/backup").await.bytes.starts_with(b"SQLite format 3\0"));
    let export = server.get("/v1/export").await;
    assert_eq!(export.status, 200);
    let target = Server::over(open(other.path()), &no_time(scratch.path()), Router::new()).await;
    let import = Request::post("/v1/import").header("x-api-key", ADMIN);
    let imported = target.send(import.body(Body::from(export.bytes)).unwrap()).await.ok();
    assert!(imported["items"].as_u64().unwrap() > 1, "{imported}");
}

fn three_dirs() -> (tempfile::TempDir, tempfile::TempDir, tempfile::TempDir) {
    let dir = || tempfile::tempdir().unwrap();
    (dir(), dir(), dir())
}
