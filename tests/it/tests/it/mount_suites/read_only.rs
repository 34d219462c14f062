//! Promise: where a store may only be read, nothing can be changed, not even by root; nor where the
//! store was archived.

use std::fs;

use loci_it::{ADMIN_KEY, Loci, Mounted};
use loci_test_mount::sealed_off;
use serde_json::json;

use super::scene::Scene;

fn filled() -> Scene {
    let scene = Scene::new();
    fs::create_dir(scene.at("folder")).unwrap();
    for (name, content) in [sealed_off::FILE, sealed_off::INNER] {
        fs::write(scene.at(name), content).unwrap();
    }
    scene
}

#[track_caller]
fn hold(mount: &Mounted) {
    let failures = sealed_off::failures(mount.at());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_read_only_store_refuses_every_change() {
    let scene = filled();
    let only_read = format!("{}:ro", scene.api.store);
    hold(&scene.mount_again("by-store", &["--flat", "--store", &only_read]));
    hold(&scene.mount_again("by-flag", &["--flat", "--read-only", "--store", &scene.api.store]));
    let mut witness = scene.witness();
    let changes = witness.api.changes(0);
    assert_eq!(changes.len(), 2, "more than the two files was written: {changes:?}");
}

#[test]
fn a_key_that_may_only_read_refuses_every_change() {
    let scene = filled();
    let mut client = scene.server.client();
    let body = json!({"name": "reader", "level": "read"});
    let key = client.post("/v1/api_keys", &body).ok();
    let secret = key["secret"].as_str().expect("a new key is told once");
    assert_ne!(secret, ADMIN_KEY);
    let loci = Loci::on_url(&scene.server.url(), secret);
    let at = scene.setup.scratch().join("reader");
    hold(&Mounted::start(&loci, &at, &["--flat", "--store", &scene.api.store]));
}

#[test]
fn an_archived_store_refuses_every_change() {
    let mut scene = filled();
    let url = scene.api.path("/archive");
    scene.api.client.call("POST", &url, None).ok();
    let store = scene.api.store.clone();
    hold(&scene.mount_again("archived", &["--flat", "--store", &store]));
}
