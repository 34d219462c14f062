//! Promise: a sync that fails is never acknowledged, and after it nothing is written until a
//! restart, because a second sync may claim what the first one lost. Reads go on.

use loci_it::{Api, Loci, Setup};
use serde_json::json;
use std::fs;
use std::process::Command;

#[test]
fn a_failed_sync_stops_writing_and_loses_nothing_that_was_acknowledged() {
    let setup = Setup::new();
    let library = setup.scratch().join("failing_disk.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/failing_disk.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([library.to_str().unwrap(), source, "-ldl"])
        .status()
        .expect("a C compiler is here, because the bundled SQLite needs one");
    assert!(compiled.success());
    let sign = setup.scratch().join("syncs-fail");
    let setup = setup
        .env("LD_PRELOAD", library.to_str().unwrap())
        .env("LOCI_TEST_FAIL_SYNC", sign.to_str().unwrap());

    let server = setup.start();
    let mut api = Api::create(server.client(), "on a dying disk");
    let kept = api.put("/kept", "acknowledged before");
    fs::write(&sign, "").unwrap();
    let create = |api: &mut Api, path: &str| {
        let url = api.path("/memories");
        api.client.post(&url, &json!({"path": path, "content": "x"})).status
    };
    assert_eq!(create(&mut api, "/lost"), 503, "a failed sync was acknowledged");
    fs::remove_file(&sign).unwrap();
    assert_eq!(create(&mut api, "/later"), 503, "writing went on after a failed sync");
    assert_eq!(api.content(&kept.id), "acknowledged before");
    assert_eq!(api.client.get("/readyz").status, 503);
    assert_eq!(api.client.get("/healthz").status, 200);
    let store = api.store.clone();
    server.kill();

    let server = setup.start();
    let mut api = Api::open(server.client(), &store);
    assert_eq!(api.content(&kept.id), "acknowledged before");
    let paths: Vec<String> = api.memories().into_iter().map(|memory| memory.path).collect();
    assert!(!paths.contains(&"/later".to_owned()), "{paths:?}");
    assert_eq!(create(&mut api, "/again"), 200);
    server.stop();
    Loci::on_data(setup.data()).ok(&["check"]);
}
