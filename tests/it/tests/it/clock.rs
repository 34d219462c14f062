//! Promise: what has expired does not come back because the machine's clock is wrong. A start goes on
//! from what was written, unless the clock is more than a day behind it: then the log says so.

use loci_it::{Client, Server, Setup};
use serde_json::{Value, json};

const HOUR: i64 = 3600;

/// As if the store had been written when the clock was so far ahead.
fn written_ahead(setup: &Setup, secs: i64) {
    let connection = rusqlite::Connection::open(setup.data().join("loci.db")).unwrap();
    let ahead = "update store set updated_at = updated_at + ?1";
    assert_eq!(connection.execute(ahead, [secs * 1_000_000]).unwrap(), 1);
}

fn made(admin: &mut Client, body: &Value) -> String {
    admin.post("/v1/api_keys", body).ok()["secret"].as_str().unwrap().to_owned()
}

fn whoami(server: &Server, key: &str) -> u16 {
    server.client_as(Some(key)).get("/v1/whoami").status
}

#[test]
fn a_start_with_a_clock_that_is_behind_revives_nothing() {
    let setup = Setup::new();
    let server = setup.start();
    let mut admin = server.client();
    admin.post("/v1/memory_stores", &json!({"name": "s"})).ok();
    let brief = made(&mut admin, &json!({"name": "brief", "expires_in_seconds": HOUR}));
    let lasting = made(&mut admin, &json!({"name": "lasting"}));
    assert_eq!((whoami(&server, &brief), whoami(&server, &lasting)), (200, 200));
    server.stop();
    written_ahead(&setup, 2 * HOUR);
    let server = setup.start();
    assert_eq!((whoami(&server, &brief), whoami(&server, &lasting)), (401, 200));
    server.stop();
    written_ahead(&setup, 30 * HOUR);
    let server = setup.start();
    assert!(setup.printed().contains("more than a day behind"), "{}", setup.printed());
    assert_eq!((whoami(&server, &brief), whoami(&server, &lasting)), (200, 200), "by the clock");
    server.stop();
}
