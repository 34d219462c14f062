//! The routes about the data as a whole, over the real SQLite storage: a backup opens, an export
//! comes in elsewhere, a check finds nothing.

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
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

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

fn three_dirs() -> (tempfile::TempDir, tempfile::TempDir, tempfile::TempDir) {
    let dir = || tempfile::tempdir().expect("there is room for a directory");
    (dir(), dir(), dir())
}
