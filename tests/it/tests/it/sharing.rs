//! Promise: a store is shared as far as its owner says and no further. A grant gives its level, ends
//! when it should, gives no more than its giver had, and once taken back opens nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Client, Cluster, Memory, Reply, Server, Setup, count, error_type};
use serde_json::{Value, json};

/// Meaning plays no part here, and making vectors takes time.
pub(crate) const NO_MODEL: &str = "[search]\nembedder = 'none'\n";
/// What a caller who may only search gets at once, and how often in a minute.
const RESULTS_MAX: usize = 10;
const SEARCHES_MAX: usize = 60;

pub(crate) fn start() -> (Setup, Server) {
    let setup = Setup::new().config(NO_MODEL);
    let server = setup.start();
    (setup, server)
}

/// A client of an agent, which is made, with everything that agent may do.
pub(crate) fn agent(server: &Server, name: &str) -> Client {
    let mut admin = server.client();
    admin.post("/v1/principals", &json!({ "name": name })).ok();
    let key = json!({"name": format!("key of {name}"), "principal": name});
    let made = admin.post("/v1/api_keys", &key).ok();
    server.client_as(Some(made["secret"].as_str().expect("shown once")))
}

fn share(api: &mut Api, who: &str, level: &str) -> Value {
    let url = api.path("/grants");
    api.client.post(&url, &json!({"grantee": who, "level": level})).ok()
}

fn revoke(api: &mut Api, who: &str) -> Value {
    let url = api.path(&format!("/grants/{who}"));
    api.client.delete(&url).ok()
}

pub(crate) fn words(reply: &Reply) -> String {
    reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
}

/// What a client may do in a store: search, list, read, write.
fn may(client: &mut Client, api: &Api, memory: &Memory) -> [u16; 4] {
    let path = format!("/by-{}", client.post("/v1/search", &json!({"query": "x"})).status);
    [
        client.post(&api.path("/search"), &json!({"query": "harbour"})).status,
        client.get(&api.path("/memories")).status,
        client.get(&api.path(&format!("/memories/{}", memory.id))).status,
        client.post(&api.path("/memories"), &json!({"path": path, "content": "x"})).status,
    ]
}

#[test]
fn each_level_gives_what_it_says() {
    let (_setup, server) = start();
    let mut api = Api::create(agent(&server, "owner"), "findings");
    let memory = api.put("/harbour", "The harbour closes at nine");
    let mut guest = agent(&server, "guest");
    assert_eq!(may(&mut guest, &api, &memory), [404; 4]);
    share(&mut api, "guest", "search");
    assert_eq!(may(&mut guest, &api, &memory), [200, 403, 403, 403]);
    for path in [
        format!("/memories/{}/attributes", memory.id),
        "/memory_by_path?path=/harbour".into(),
        format!("/memory_versions?memory_id={}", memory.id),
        "/changes".into(),
        "/duplicates".into(),
        "/grants".into(),
    ] {
        let reply = guest.get(&api.path(&path));
        assert_eq!(reply.status, 403, "{path}: {}", reply.text());
        assert!(!reply.text().contains("nine"), "{path}");
    }
    share(&mut api, "guest", "read");
    assert_eq!(may(&mut guest, &api, &memory), [200, 200, 200, 403]);
    share(&mut api, "guest", "readwrite");
    assert_eq!(may(&mut guest, &api, &memory), [200; 4]);
    let url = api.path("/grants");
    let grants = api.client.get(&url).ok();
    assert_eq!(grants["data"].as_array().unwrap().len(), 1, "each replaced the one before");
    assert_eq!(grants["data"][0]["grantee_name"], "guest");
    revoke(&mut api, "guest");
    assert_eq!(may(&mut guest, &api, &memory), [404; 4]);
    server.stop();
}

#[test]
fn searching_only_is_bounded_and_written_down() {
    let (setup, server) = start();
    let mut api = Api::create(agent(&server, "owner"), "findings");
    for number in 0..RESULTS_MAX + 5 {
        api.put(&format!("/harbour/{number}"), &format!("The harbour has pier {number}"));
    }
    let (mut seeker, mut other) = (agent(&server, "seeker"), agent(&server, "other"));
    let mut reader = agent(&server, "reader");
    for (who, level) in [("seeker", "search"), ("other", "search"), ("reader", "read")] {
        share(&mut api, who, level);
    }
    let url = api.path("/search");
    let body = json!({"query": "harbour pier", "limit": 100});
    let found = |reply: Reply| reply.ok()["data"].as_array().unwrap().len();
    assert_eq!(found(reader.post(&url, &body)), RESULTS_MAX + 5);
    let began = Instant::now();
    assert_eq!(found(seeker.post(&url, &body)), RESULTS_MAX);
    assert_eq!(found(seeker.post("/v1/search", &body)), RESULTS_MAX);
    for _ in 2..SEARCHES_MAX {
        seeker.post(&url, &json!({"query": "pier"})).ok();
    }
    let refused = seeker.post(&url, &body);
    let everywhere = seeker.post("/v1/search", &body).ok();
    assert!(began.elapsed() < Duration::from_secs(55), "too slow to tell: {:?}", began.elapsed());
    assert_eq!((refused.status, error_type(&refused).as_deref()), (429, Some("rate_limit_error")));
    assert!(!refused.text().contains("pier"), "{}", refused.text());
    let left_out = (&everywhere["data"], &everywhere["stores_left_out"]);
    assert_eq!(left_out, (&json!([]), &json!(1)), "it is left out, and the answer says so");
    assert_eq!(found(other.post(&url, &body)), RESULTS_MAX, "each is counted alone");
    assert_eq!(found(reader.post(&url, &body)), RESULTS_MAX + 5);

    let events = events(&server);
    let searched: Vec<&Value> = events.iter().filter(|event| event["kind"] == "searched").collect();
    assert_eq!(searched.len(), SEARCHES_MAX + 1, "those of the seeker and one of the other");
    let seeker = principal(&server, "seeker");
    let by_seeker = searched.iter().filter(|event| event["principal"] == *seeker);
    let queries: Vec<&str> = by_seeker.map(|event| event["detail"].as_str().unwrap()).collect();
    assert_eq!(queries.len(), SEARCHES_MAX);
    assert_eq!((queries[0], queries[1], queries[2]), ("harbour pier", "harbour pier", "pier"));
    assert!(searched.iter().all(|event| event["store"] == *api.store));
    server.stop();
    assert!(!setup.printed().contains("harbour"), "a query is in the log");
}

pub(crate) fn events(server: &Server) -> Vec<Value> {
    let whole = server.client().get("/v1/events?limit=1000").ok();
    whole["data"].as_array().unwrap().clone()
}

pub(crate) fn principal(server: &Server, name: &str) -> String {
    let all = server.client().get("/v1/principals").ok();
    let all = all["data"].as_array().unwrap();
    let found = all.iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}"))["id"].as_str().unwrap().to_owned()
}

#[test]
fn nobody_gives_more_than_they_have_nor_for_longer() {
    let (_setup, server) = start();
    let mut api = Api::create(agent(&server, "owner"), "findings");
    let memory = api.put("/harbour", "The harbour closes at nine");
    let (mut second, mut third) = (agent(&server, "second"), agent(&server, "third"));
    let url = api.path("/grants");
    let give = |client: &mut Client, body: Value| client.post(&url, &body);

    share(&mut api, "second", "read");
    let refused = give(&mut second, json!({"grantee": "third", "level": "search"}));
    assert_eq!(refused.status, 403, "readers do not share: {}", refused.text());
    let hour = json!({"grantee": "second", "level": "readwrite", "ttl_seconds": 3600});
    give(&mut api.client, hour).ok();
    for body in [
        json!({"grantee": "third", "level": "read"}),
        json!({"grantee": "third", "level": "read", "ttl_seconds": 3700}),
        json!({"grantee": "everyone", "level": "search"}),
    ] {
        let refused = give(&mut second, body.clone());
        assert_eq!(refused.status, 403, "{body}: {}", refused.text());
    }
    for body in [
        json!({"grantee": "second", "level": "read"}),
        json!({"grantee": "third", "level": "read", "ttl_seconds": 0}),
        json!({"grantee": "third", "level": "read", "expires_at": "2020-01-01T00:00:00Z"}),
        json!({"grantee": "third", "level": "all"}),
    ] {
        let refused = give(&mut second, body.clone());
        assert_eq!(refused.status, 400, "{body}: {}", refused.text());
    }
    let nobody = give(&mut second, json!({"grantee": "nobody", "level": "read"}));
    assert_eq!(nobody.status, 404, "{}", nobody.text());
    assert_eq!(may(&mut third, &api, &memory), [404; 4], "nothing of this was given");

    give(&mut second, json!({"grantee": "third", "level": "read", "ttl_seconds": 3000})).ok();
    assert_eq!(may(&mut third, &api, &memory), [200, 200, 200, 403]);
    let taken = revoke(&mut api, "second");
    assert_eq!(taken["revoked"].as_array().unwrap().len(), 2, "{taken}");
    assert_eq!(may(&mut third, &api, &memory), [404; 4], "what it stood on is gone");
    server.stop();
}

#[test]
fn grants_end_by_themselves() {
    let (_setup, server) = start();
    let mut api = Api::create(agent(&server, "owner"), "findings");
    let memory = api.put("/harbour", "The harbour closes at nine");
    let mut guest = agent(&server, "guest");
    let url = api.path("/grants");
    let began = Instant::now();
    let body = json!({"grantee": "guest", "level": "readwrite", "ttl_seconds": 5});
    api.client.post(&url, &body).ok();
    let mut seen = 0;
    while guest.get(&api.path("/memories")).status == 200 {
        seen += 1;
        assert!(began.elapsed() < Duration::from_secs(60), "the grant never ended");
        thread::sleep(Duration::from_millis(50));
    }
    // On a busy machine the first look may come when it is over.
    let is_late = began.elapsed() > Duration::from_secs(4);
    assert!(is_late, "ended too early, after {seen} looks");
    assert_eq!(may(&mut guest, &api, &memory), [404; 4]);
    server.stop();
}

#[test]
fn everyone_comes_last() {
    let (_setup, server) = start();
    let mut api = Api::create(agent(&server, "owner"), "findings");
    let memory = api.put("/harbour", "The harbour closes at nine");
    let (mut anybody, mut seeker) = (agent(&server, "anybody"), agent(&server, "seeker"));
    share(&mut api, "seeker", "search");
    share(&mut api, "everyone", "read");
    assert_eq!(may(&mut anybody, &api, &memory), [200, 200, 200, 403]);
    assert_eq!(may(&mut seeker, &api, &memory), [200, 403, 403, 403], "its own grant is first");
    let taken = revoke(&mut api, "everyone");
    assert_eq!(taken["revoked"].as_array().unwrap().len(), 1);
    assert_eq!(may(&mut anybody, &api, &memory), [404; 4]);
    assert_eq!(may(&mut seeker, &api, &memory), [200, 403, 403, 403]);
    let missing = api.path("/grants/everyone");
    assert_eq!(api.client.delete(&missing).status, 404, "taken back already");
    server.stop();
}

/// Odd while access is taken away for sure: from the answer to a revocation until the next grant.
struct Phase(AtomicU64);

impl Phase {
    fn is_closed(at: u64) -> bool {
        at % 2 == 1
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn turn(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Ends the guests, also when the host fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Gives and takes at one server while a guest asks another without pause.
fn nothing_gets_through_after_revoke(here: &Server, there: &Server, rounds: usize) {
    let mut api = Api::create(agent(here, "owner"), "findings");
    let memory = api.put("/harbour", "The harbour closes at nine");
    let key = json!({"name": "k", "principal": "guest"});
    here.client().post("/v1/principals", &json!({"name": "guest"})).ok();
    let key = here.client().post("/v1/api_keys", &key).ok();
    let key = key["secret"].as_str().unwrap();
    let requests = [
        ("POST", api.path("/search"), Some(json!({"query": "harbour"}))),
        ("POST", "/v1/search".to_owned(), Some(json!({"query": "harbour"}))),
        ("GET", api.path("/memories"), None),
        ("GET", api.path(&format!("/memories/{}", memory.id)), None),
    ];
    // The guest gets it: a success that shows the memory.
    let gets = |reply: &Reply| reply.status == 200 && reply.text().contains("mem_");
    let (phase, is_over) = (Phase(AtomicU64::new(0)), AtomicBool::new(false));
    thread::scope(|scope| {
        let mut guests = Vec::new();
        for (method, path, body) in &requests {
            let (phase, is_over) = (&phase, &is_over);
            guests.push(scope.spawn(move || {
                let mut client = there.client_as(Some(key));
                let (mut got, mut refused) = (0, 0);
                while !is_over.load(Ordering::SeqCst) {
                    let before = phase.now();
                    let reply = client.call(method, path, body.as_ref());
                    let is_closed = phase.now() == before && Phase::is_closed(before);
                    match gets(&reply) {
                        true if is_closed => panic!("{method} {path} after the revocation"),
                        true => got += 1,
                        false => refused += 1,
                    }
                }
                (got, refused)
            }));
        }
        let ending = Ending(&is_over);
        let mut direct = there.client_as(Some(key));
        for round in 0..rounds {
            share(&mut api, "guest", "read");
            for (method, path, body) in &requests {
                let reply = direct.call(method, path, body.as_ref());
                assert!(gets(&reply), "round {round}: {method} {path}: {}", reply.text());
            }
            revoke(&mut api, "guest");
            phase.turn();
            for (method, path, body) in &requests {
                let reply = direct.call(method, path, body.as_ref());
                assert!(!gets(&reply), "round {round}: {method} {path}: {}", reply.text());
            }
            phase.turn();
            if guests.iter().any(thread::ScopedJoinHandle::is_finished) {
                break;
            }
        }
        drop(ending);
        for guest in guests {
            let (got, refused) = guest.join().expect("the guest saw nothing it may not");
            assert!(got > 0 && refused > 0, "got {got}, refused {refused}");
        }
    });
}

#[test]
fn when_revoke_has_answered_nothing_gets_through() {
    let (_setup, server) = start();
    nothing_gets_through_after_revoke(&server, &server, count("revocations"));
    server.stop();
}

#[test]
fn when_one_server_has_revoked_nothing_gets_through_the_other() {
    let cluster = Cluster::fresh().with(|setup| setup.config(NO_MODEL));
    let servers = cluster.start_together(2);
    nothing_gets_through_after_revoke(&servers[0], &servers[1], count("revocations_far"));
    servers.into_iter().for_each(Server::stop);
}
