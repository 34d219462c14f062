//! The page as it is handed out: every file whole, under its headers, and made from the sources that lie
//! beside it.

#![allow(clippy::unwrap_used, reason = "a test")]

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use tower::ServiceExt;

fn manifest() -> Value {
    let text = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manifest.json"));
    serde_json::from_slice(&text.unwrap()).unwrap()
}

async fn get(uri: &str, encoding: Option<&str>) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut request = Request::get(uri);
    if let Some(encoding) = encoding {
        request = request.header("accept-encoding", encoding);
    }
    let response = loci_console::router().oneshot(request.body(Body::empty()).unwrap());
    let (parts, body) = response.await.unwrap().into_parts();
    (parts.status, parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[tokio::test]
async fn every_file_of_the_manifest_is_there_whole_packed_and_unpacked() {
    let manifest = manifest();
    let files = manifest["files"].as_array().unwrap();
    assert!(files.len() > 10);
    for file in files {
        let uri = format!("/console/assets/{}", file["name"].as_str().unwrap());
        let (status, headers, bytes) = get(&uri, None).await;
        assert_eq!(status, StatusCode::OK, "{uri}");
        assert_eq!(digest(&bytes), file["sha256"].as_str().unwrap(), "{uri}");
        assert_eq!(headers["content-type"], file["type"].as_str().unwrap(), "{uri}");
        assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
        assert!(!headers.contains_key("content-encoding"));
        let (_, headers, packed) = get(&uri, Some("gzip, br")).await;
        assert_eq!(packed.len() as u64, file["brotli_bytes"].as_u64().unwrap(), "{uri}");
        assert_eq!(headers["content-encoding"], "br");
    }
}

#[tokio::test]
async fn every_address_below_the_console_is_the_page_and_nothing_may_be_added_to_it() {
    let manifest = manifest();
    let files = manifest["files"].as_array().unwrap();
    let index = files.iter().find(|file| file["name"] == manifest["index"]).unwrap();
    for uri in ["/console/", "/console/search", "/console/s/memstore_1/m/a%2Fb?tab=history"] {
        let (status, headers, bytes) = get(uri, None).await;
        assert_eq!(status, StatusCode::OK, "{uri}");
        assert_eq!(digest(&bytes), index["sha256"].as_str().unwrap(), "{uri}");
        assert_eq!(headers["cache-control"], "no-store");
        assert_eq!(headers["content-security-policy"], loci_console::POLICY);
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("<script>") && !text.contains(" style="), "inline parts are dead");
    }
    let (status, headers, _) = get("/console", None).await;
    assert_eq!(
        (status, &headers["location"]),
        (StatusCode::PERMANENT_REDIRECT, &"/console/".parse().unwrap())
    );
    for missing in ["/console/assets/none.js", "/console/assets/..%2Fsrc%2Flib.rs"] {
        let (status, headers, _) = get(missing, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{missing}");
        assert_eq!(headers["cache-control"], "no-store");
    }
}

/// Every file below a directory.
fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, found) } else { found.push(path) }
    }
}

#[test]
fn the_files_are_what_the_sources_give() {
    let console = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../console");
    let mut paths = Vec::new();
    walk(&console.join("src"), &mut paths);
    let named = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
    paths.extend(named.map(|name| console.join(name)));
    let mut relative: Vec<(String, PathBuf)> = paths
        .into_iter()
        .map(|path| (path.strip_prefix(&console).unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    relative.sort();
    let mut hash = Sha256::new();
    for (name, path) in relative {
        let bytes = fs::read(path).unwrap();
        hash.update(format!("{name}\n{}\n", bytes.len()));
        hash.update(bytes);
    }
    let now = hex::encode(hash.finalize());
    assert_eq!(now, manifest()["sources"].as_str().unwrap(), "run npm run build in console/");
}

#[test]
fn the_table_lists_the_files_and_nothing_is_left_over() {
    let manifest = manifest();
    let files = manifest["files"].as_array().unwrap();
    let mut listed: Vec<String> =
        files.iter().map(|file| format!("{}.br", file["name"].as_str().unwrap())).collect();
    listed.push("manifest.json".to_owned());
    listed.sort();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let mut there: Vec<String> = fs::read_dir(assets)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, listed);
}
