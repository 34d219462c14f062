//! Promise: keys are shown once, kept only as hashes, and stop working the moment they should.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{
    ADMIN_KEY, Api, Cluster, Loci, Needles, Server, Setup, error_type, hits_in, hits_in_dir,
};
use serde_json::{Value, json};

const SHOWN: &str = "admin key (shown once): ";

/// The secret in an answer: the one string that starts like a key.
fn secret_in(answer: &Value) -> String {
    let found = strings(answer).into_iter().find(|text| text.starts_with("loci_"));
    found.unwrap_or_else(|| panic!("no key in {answer}"))
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn create_key(setup: &Setup, args: &[&str]) -> (String, String) {
    let loci = Loci::on_data(setup.data());
    let answer = loci.json(&[&["key", "create", "--name", "test"], args].concat());
    let id = strings(&answer).into_iter().find(|text| text.starts_with("apikey_"));
    (id.unwrap_or_else(|| panic!("no key id in {answer}")), secret_in(&answer))
}

fn status_as(server: &Server, key: &str) -> u16 {
    server.client_as(Some(key)).get("/v1/memory_stores").status
}

#[test]
fn the_first_start_shows_an_admin_key_once_and_stores_only_its_hash() {
    let setup = Setup::new().admin_key(None);
    let server = setup.start();
    let printed = setup.printed();
    let shown: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix(SHOWN)).collect();
    let [key] = shown[..] else { panic!("shown {} times:\n{printed}", shown.len()) };
    assert!(key.starts_with("loci_") && key.len() >= 48, "256 bits and a prefix: {}", key.len());
    assert_eq!(status_as(&server, key), 200);

    let mut api = Api::create(server.client_as(Some(key)), "mine");
    api.put("/a", "written with the first key");
    server.stop();
    let needles = Needles::of(key);
    let hits = hits_in_dir(setup.data(), &needles);
    assert!(hits.is_empty(), "the key itself is on disk: {hits:?}");

    let before = setup.printed().len();
    let server = setup.start();
    assert_eq!(status_as(&server, key), 200, "the key outlives a restart");
    server.stop();
    let later = setup.printed()[before..].to_owned();
    assert!(hits_in("log", later.as_bytes(), &needles).is_empty(), "shown again: {later}");
    assert!(!later.contains(SHOWN), "a second start shows no key: {later}");
}

#[test]
fn the_admin_key_can_be_set_and_is_never_written_down() {
    let setup = Setup::new();
    let server = setup.start();
    assert_eq!(status_as(&server, ADMIN_KEY), 200);
    let mut api = Api::create(server.client(), "mine");
    let memory = api.put("/a", "first");
    api.update(&memory.id, &json!({"content": "second"}));
    for wrong in ["", "x", &ADMIN_KEY[1..], &format!("{ADMIN_KEY}x"), &ADMIN_KEY.to_uppercase()] {
        let reply = server.client_as(Some(wrong)).get("/v1/memory_stores");
        assert_eq!(reply.status, 401, "{wrong:?}: {}", reply.text());
        assert_eq!(error_type(&reply).as_deref(), Some("authentication_error"));
    }
    server.stop();
    let needles = Needles::of(ADMIN_KEY);
    assert!(hits_in_dir(setup.data(), &needles).is_empty(), "the key is on disk");
    let printed = setup.printed();
    assert!(hits_in("log", printed.as_bytes(), &needles).is_empty(), "the key is in the log");
    assert!(!printed.contains(SHOWN), "a key that was given is not shown");
}

#[test]
fn made_keys_are_limited_expire_and_are_revoked_at_once() {
    let setup = Setup::new();
    let server = setup.start();
    let mut api = Api::create(server.client(), "open");
    let memory = api.put("/a", "text");
    let other = Api::create(server.client(), "closed").store;

    let (id, reader) = create_key(&setup, &["--level", "read", "--store", &api.store]);
    let mut as_reader = Api::open(server.client_as(Some(&reader)), &api.store);
    assert_eq!(as_reader.content(&memory.id), "text");
    let url = as_reader.path("/memories");
    let refused = as_reader.client.post(&url, &json!({"path": "/b", "content": "b"}));
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert_eq!(error_type(&refused).as_deref(), Some("permission_error"));
    let foreign = as_reader.client.get(&format!("/v1/memory_stores/{other}"));
    assert!([403, 404].contains(&foreign.status), "a store it was not given: {}", foreign.text());
    for admin in ["/v1/api_keys", "/v1/export", "/v1/backup"] {
        let reply = as_reader.client.get(admin);
        assert_eq!(reply.status, 403, "{admin}: {}", reply.text());
    }
    let listed = server.client().get("/v1/api_keys").text();
    assert!(listed.contains(&id) && !listed.contains(&reader), "lists keys, not secrets");

    Loci::on_data(setup.data()).ok(&["key", "revoke", &id]);
    // The same open connection, the very next request.
    assert_eq!(as_reader.get(&memory.id).status, 401, "a revoked key is dead at once");

    let began = Instant::now();
    let (_, brief) = create_key(&setup, &["--level", "read", "--expires", "10"]);
    let first = status_as(&server, &brief);
    // The command line may take long to start on a busy machine.
    assert!(first == 200 || began.elapsed() > Duration::from_secs(9), "{first}");
    while status_as(&server, &brief) == 200 {
        assert!(began.elapsed() < Duration::from_secs(60), "the key never expired");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(status_as(&server, &brief), 401);
    assert!(began.elapsed() > Duration::from_secs(9), "expired too early");

    server.stop();
    for secret in [&reader, &brief] {
        let needles = Needles::of(secret);
        assert!(hits_in_dir(setup.data(), &needles).is_empty(), "a secret is on disk");
        let printed = setup.printed();
        assert!(hits_in("log", printed.as_bytes(), &needles).is_empty(), "a secret in the log");
    }
}

#[test]
fn revoking_the_key_over_http_works_at_once_too() {
    let setup = Setup::new();
    let server = setup.start();
    let (id, secret) = create_key(&setup, &["--level", "readwrite"]);
    assert_eq!(status_as(&server, &secret), 200);
    server.client().delete(&format!("/v1/api_keys/{id}")).ok();
    assert_eq!(status_as(&server, &secret), 401);
    server.stop();
}

/// Signs in at the first server, makes keys at the last, and signs out at the first again.
fn signing_out_ends_what_was_made(servers: &[Server]) {
    let (first, last) = (&servers[0], &servers[servers.len() - 1]);
    let page = ("x-loci-console", "1");
    let login = json!({ "key": ADMIN_KEY });
    let entered = first.client_as(None).call_with("POST", "/console/login", Some(&login), &[page]);
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let shown = [page, ("cookie", cookie.as_str())];
    let mut browser = last.client_as(None);
    let mut make = |number: usize| {
        let name = json!({"name": format!("made {number}")});
        browser.call_with("POST", "/v1/api_keys", Some(&name), &shown).ok()["secret"].clone()
    };
    let mut made: Vec<Value> = (0..10).map(&mut make).collect();
    let by_a_made_one =
        last.client_as(made[0].as_str()).post("/v1/api_keys", &json!({"name": "x"}));
    made.push(by_a_made_one.ok()["secret"].clone());
    let is_open = |server: &Server, key: &Value| status_as(server, key.as_str().unwrap()) == 200;
    assert!(made.iter().all(|key| servers.iter().all(|server| is_open(server, key))));
    // Whoever makes keys at the same time has none that outlives it.
    let (racing, done) = thread::scope(|scope| {
        let racing = scope.spawn(|| {
            let mut browser = last.client_as(None);
            let mut made = Vec::new();
            for number in 0.. {
                let name = json!({"name": format!("late {number}")});
                let reply = browser.call_with("POST", "/v1/api_keys", Some(&name), &shown);
                if reply.status != 200 {
                    assert_eq!(reply.status, 401, "{}", reply.text());
                    break;
                }
                made.push(reply.json()["secret"].clone());
            }
            made
        });
        let done = first.client_as(None).call_with("POST", "/console/logout", None, &shown);
        (racing.join().unwrap(), done)
    });
    assert_eq!(done.status, 204, "{}", done.text());
    for key in made.iter().chain(&racing) {
        assert!(servers.iter().all(|server| !is_open(server, key)));
    }
    // Asked again, there is nobody who could sign out.
    let again = first.client_as(None).call_with("POST", "/console/logout", None, &shown);
    assert_eq!(again.status, 401);
}

#[test]
fn signing_out_of_the_console_ends_what_was_made_in_it() {
    signing_out_ends_what_was_made(&[Setup::new().start()]);
}

#[test]
fn signing_out_of_the_console_ends_what_was_made_at_another_server() {
    signing_out_ends_what_was_made(&Cluster::fresh().start_together(2));
}

#[test]
fn an_open_address_without_a_key_is_refused() {
    let setup = Setup::new().admin_key(None).listen("0.0.0.0:0");
    let Err(status) = setup.try_start() else { panic!("listens to the world without a key") };
    assert!(!status.success());
    let said = setup.printed();
    assert!(said.contains("LOCI_ADMIN_KEY"), "the message says what to do: {said}");
    assert!(!said.contains(SHOWN), "no key is made on the way out: {said}");

    let setup = Setup::new().listen("0.0.0.0:0");
    let server = setup.start();
    assert_ne!(server.addr().port(), 0, "with a key it may listen anywhere");
    server.stop();
}

#[test]
fn each_key_has_its_own_rate_limit() {
    let setup = Setup::new().config("[limits]\nrequests_per_second = 10\n");
    let server = setup.start();
    let mut busy = server.client();
    let mut limited = None;
    for _ in 0..400 {
        let reply = busy.get("/v1/memory_stores");
        if reply.status != 200 {
            limited = Some(reply);
            break;
        }
    }
    let reply = limited.expect("400 requests at once pass a limit of 10 a second");
    assert_eq!(reply.status, 429, "{}", reply.text());
    assert_eq!(error_type(&reply).as_deref(), Some("rate_limit_error"));
    let wait: u64 = reply.header("retry-after").expect("says when").parse().expect("in seconds");
    assert!((1..=60).contains(&wait), "retry-after: {wait}");

    let (_, other) = create_key(&setup, &["--level", "read"]);
    assert_eq!(status_as(&server, &other), 200, "another key is not held up");
    thread::sleep(Duration::from_secs(wait));
    assert_eq!(busy.get("/v1/memory_stores").status, 200, "and it passes again after waiting");
    server.stop();
}

#[test]
fn the_data_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let setup = Setup::new();
    let server = setup.start();
    Api::create(server.client(), "mine").put("/a", "text");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(setup.data()) & 0o077, 0, "others can look into the directory");
    for entry in fs::read_dir(setup.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "others can use {}", path.display());
    }
    server.stop();
}

#[test]
fn an_admin_key_that_can_be_guessed_is_refused() {
    for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
        let setup = Setup::new().admin_key(Some("fifteen-letters")).listen(listen);
        assert!(setup.try_start().is_err());
        let said = setup.printed();
        assert!(said.contains("LOCI_ADMIN_KEY") && said.contains("16 characters"), "{said}");
        assert!(!said.contains("fifteen-letters"));
    }
}

#[test]
fn a_data_directory_that_others_write_in_is_refused() {
    let setup = Setup::new();
    fs::create_dir(setup.data()).unwrap();
    fs::set_permissions(setup.data(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(setup.try_start().is_err());
    let told = format!("chmod 700 {}", setup.data().display());
    assert!(setup.printed().contains(&told), "{}", setup.printed());
    fs::set_permissions(setup.data(), fs::Permissions::from_mode(0o755)).unwrap();
    setup.start().stop();
    assert!(setup.printed().contains("other users can list"), "{}", setup.printed());
}
