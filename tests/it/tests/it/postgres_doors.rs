//! Promise: servers on one database are one Loci. What is done through one of them is there through
//! the others at once, a repeated request has one effect wherever it is repeated, and of updates with
//! one precondition exactly one wins.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use loci_it::{Api, Client, Cluster, Server, count, error_type, eventually, sha256};
use serde_json::{Value, json};

/// The sweeper looks every ten seconds.
const SWEPT_WITHIN: Duration = Duration::from_secs(60);

fn same_store(server: &Server, api: &Api) -> Api {
    Api::open(server.client(), &api.store)
}

#[test]
fn what_one_server_writes_the_other_shows() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(2);
    let mut here = Api::create(servers[0].client(), "shared");
    let mut there = same_store(&servers[1], &here);

    let ferry = here.put("/trips/ferry.md", "The ferry to the island leaves at nine");
    let bread = here.put("/food/bread.md", "Sourdough rests overnight before baking");
    assert_eq!(there.content(&ferry.id), "The ferry to the island leaves at nine");
    assert_eq!(there.memories(), here.memories());
    assert_eq!(there.found("lexical", "ferry"), std::slice::from_ref(&ferry.id));
    there.settle();
    assert_eq!(there.found("semantic", "when does the boat depart?")[0], ferry.id);

    let moved = json!({"path": "/trips/boat.md", "content": "The ferry leaves at ten"});
    let changed = there.update(&ferry.id, &moved);
    assert_eq!(here.content(&ferry.id), "The ferry leaves at ten");
    assert_eq!(here.versions(&ferry.id), there.versions(&ferry.id));
    assert_eq!(here.versions(&ferry.id).len(), 2);
    assert_eq!(here.found("lexical", "island"), [] as [String; 0], "the old words are gone");

    // The old content is destroyed through one server, for all of them.
    here.redact(&ferry.version).ok();
    let old = there.path(&format!("/memory_versions/{}", ferry.version));
    let old = there.client.get(&old).ok();
    assert!(old["redacted_at"].is_string() && old["content"].is_null(), "{old}");
    there.delete(&bread.id);
    assert_eq!(here.get(&bread.id).status, 404);
    assert_eq!(here.found("lexical", "sourdough"), [] as [String; 0]);

    let feed = here.changes(0);
    assert_eq!(feed, there.changes(0));
    let numbers: Vec<u64> = feed.iter().filter_map(|change| change["seq"].as_u64()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5], "created twice, modified, redacted, deleted");
    assert_eq!(here.memories(), [changed]);

    let gone = here.path("");
    here.client.delete(&gone).ok();
    assert_eq!(there.client.get(&gone).status, 404);
    cluster.check();
    servers.into_iter().for_each(Server::stop);
}

#[test]
fn a_key_made_or_revoked_at_one_server_is_so_at_all() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(2);
    let made = servers[0].client().post("/v1/api_keys", &json!({"name": "guest"})).ok();
    let secret = made["secret"].as_str().expect("a new key has its secret").to_owned();
    let mut guest = servers[1].client_as(Some(&secret));
    guest.get("/v1/memory_stores").ok();
    let id = made["id"].as_str().expect("a key has an id");
    servers[0].client().delete(&format!("/v1/api_keys/{id}")).ok();
    assert_eq!(guest.get("/v1/memory_stores").status, 401);
}

#[test]
fn a_request_repeated_at_another_server_has_one_effect() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(3);
    let mut api = Api::create(servers[0].client(), "once");
    let url = api.path("/memories");
    let post = |client: &mut Client, key: &str, path: &str| {
        let body = json!({"path": path, "content": format!("content of {path}")});
        client.call_with("POST", &url, Some(&body), &[("idempotency-key", key)])
    };

    let first = post(&mut servers[0].client(), "answer-lost", "/one").ok();
    for server in &servers {
        assert_eq!(post(&mut server.client(), "answer-lost", "/one").ok(), first);
    }
    assert_eq!(api.versions(first["id"].as_str().unwrap()).len(), 1);

    // All of them at the same moment.
    for round in 0..10 {
        let (key, path) = (format!("together-{round}"), format!("/together/{round}"));
        let start = Barrier::new(servers.len() * 2);
        let answers: Vec<Value> = thread::scope(|scope| {
            let asking = servers.iter().chain(&servers).map(|server| {
                let (start, post, key, path) = (&start, &post, &key, &path);
                scope.spawn(move || {
                    let mut client = server.client();
                    client.connect().unwrap();
                    start.wait();
                    post(&mut client, key, path).ok()
                })
            });
            let asking: Vec<_> = asking.collect();
            asking.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert_eq!(api.versions(answers[0]["id"].as_str().unwrap()).len(), 1);
    }
    let other = json!({"path": "/two", "content": "another request under the same key"});
    let headers = [("idempotency-key", "answer-lost")];
    let refused = servers[1].client().call_with("POST", &url, Some(&other), &headers);
    assert!((400..500).contains(&refused.status), "{}", refused.text());
    assert_eq!(api.memories().len(), 11);
    assert_eq!(api.changes(0).len(), 11);
}

#[test]
fn of_two_hundred_updates_with_one_precondition_exactly_one_wins_each_round() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(3);
    let mut api = Api::create(servers[0].client(), "race");
    let memory = api.put("/prize.md", "before");
    let url = api.path(&format!("/memories/{}", memory.id));
    let mut digest = memory.digest.clone();
    for round in 0..count("postgres_rival_rounds") {
        let start = Arc::new(Barrier::new(count("postgres_rivals")));
        let rivals: Vec<_> = (0..count("postgres_rivals"))
            .map(|number| {
                let mut client = servers[number % servers.len()].client();
                let (start, url, digest) = (Arc::clone(&start), url.clone(), digest.clone());
                let rival = move || {
                    let content = format!("round {round}: rival {number} was here");
                    let body = json!({
                        "content": content,
                        "precondition": {"type": "content_sha256", "content_sha256": digest},
                    });
                    client.connect().expect("the server takes a connection");
                    start.wait();
                    (content, client.call("POST", &url, Some(&body)))
                };
                thread::Builder::new().stack_size(256 * 1024).spawn(rival).unwrap()
            })
            .collect();
        let mut winners = Vec::new();
        for rival in rivals {
            let (content, reply) = rival.join().unwrap();
            if reply.status == 200 {
                winners.push(content);
                continue;
            }
            assert_eq!(reply.status, 409, "{}", reply.text());
            assert_eq!(error_type(&reply).as_deref(), Some("memory_precondition_failed_error"));
        }
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        for server in &servers {
            assert_eq!(same_store(server, &api).content(&memory.id), winners[0]);
        }
        digest = sha256(&winners[0]);
    }
    assert_eq!(api.versions(&memory.id).len(), 1 + count("postgres_rival_rounds"));
    let numbers: Vec<u64> = api.changes(0).iter().filter_map(|one| one["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=1 + count("postgres_rival_rounds") as u64).collect::<Vec<_>>());
    cluster.check();
}

#[test]
fn of_creates_at_one_path_through_all_servers_exactly_one_wins() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(3);
    let mut api = Api::create(servers[0].client(), "race");
    let url = api.path("/memories");
    let answers: Vec<_> = thread::scope(|scope| {
        let rivals = (0..60).map(|number| {
            let (server, url) = (&servers[number % servers.len()], &url);
            let body = json!({"path": "/spot", "content": format!("{number}")});
            scope.spawn(move || server.client().post(url, &body))
        });
        let rivals: Vec<_> = rivals.collect();
        rivals.into_iter().map(|rival| rival.join().unwrap()).collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|reply| reply.status == 200);
    assert_eq!(won.len(), 1);
    let id = won[0].json()["id"].clone();
    for reply in lost {
        assert_eq!(error_type(reply).as_deref(), Some("memory_path_conflict_error"));
        assert_eq!(reply.json()["error"]["conflicting_memory_id"], id);
    }
    assert_eq!(api.memories().len(), 1);
}

#[test]
fn an_expired_memory_is_removed_once() {
    let cluster = Cluster::fresh();
    let servers = cluster.start_together(3);
    let mut api = Api::create(servers[0].client(), "short");
    let mut ids = Vec::new();
    for number in 0..20 {
        let memory = api.put(&format!("/short/{number}"), "gone in a moment");
        let attributes = api.path(&format!("/memories/{}/attributes", memory.id));
        api.client.post(&attributes, &json!({"ttl_seconds": 1})).ok();
        ids.push(memory.id);
    }
    let kept = api.put("/kept", "stays");
    // Expiring is a matter of the clock.
    thread::sleep(Duration::from_millis(1100));
    for server in &servers {
        let mut api = same_store(server, &api);
        assert_eq!(api.memories(), std::slice::from_ref(&kept), "expired is gone, swept or not");
        assert_eq!(api.get(&ids[0]).status, 404);
    }
    let began = Instant::now();
    let written = 2 * ids.len() + 1;
    while api.changes(0).len() < written + ids.len() {
        assert!(began.elapsed() < SWEPT_WITHIN, "nobody sweeps:\n{}", cluster.setup().printed());
        thread::sleep(Duration::from_millis(200));
    }
    // Whoever sweeps prolongs the lease each time. Between two times everybody else has tried, too.
    let lease = || cluster.sql("select until from loci.lease where name = 'sweep'");
    for _ in 0..2 {
        let before = lease();
        eventually("another sweep", || lease() != before);
    }
    assert_eq!(api.changes(0).len(), written + ids.len());
    for id in &ids {
        let versions = api.versions(id);
        assert_eq!(versions.len(), 3, "{versions:?}");
        assert_eq!(versions[0]["operation"], "deleted");
    }
    cluster.check();
}
