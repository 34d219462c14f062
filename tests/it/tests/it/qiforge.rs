//! Promise: QiForge's oracles work against the real server as their runtime calls it. Who asks is known
//! by a token that the user made and by nothing else; a conversation that is handed over twice is kept
//! once, on either engine and across servers; and nobody ever meets what is somebody else's.

use loci_it::ucan::{Draft, Signer, delegated, in_person};
use loci_it::{ADMIN_KEY, Cluster, Dice, Reply, Server, Setup, count, seed_or};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) const MESSAGES: &str = "/qiforge/messages";
const BATCH: &str = "/qiforge/search-enhanced-batch";
pub(crate) const ROOM: &str = "!room:matrix.example.org";
pub(crate) const DID: &str = "did:web:memory.example.org";

pub(crate) fn now() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "whoever makes tokens has a clock of their own")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    now.try_into().unwrap()
}

/// A link that ends in an hour.
fn hour(draft: Draft<'_>) -> Draft<'_> {
    draft.until(now() + 3600)
}

/// A token of an hour for what a user does through an oracle.
pub(crate) fn token(user: &Signer, oracle: Option<&Signer>, server: &str) -> String {
    match oracle {
        Some(oracle) => delegated(user, oracle, server, now() + 3600),
        None => in_person(user, server, now() + 3600),
    }
}

fn call(server: &Server, token: &str, room: Option<&str>, path: &str, body: &Value) -> Reply {
    let mut headers = vec![("x-auth-type", "ucan")];
    headers.extend(room.map(|room| ("x-room-id", room)));
    server.client_as(Some(token)).without_beta().call_with("POST", path, Some(body), &headers)
}

pub(crate) fn message(name: &str, content: &str, title: &str) -> Value {
    json!({"content": content, "role_type": "user", "role": name, "name": name,
        "source_description": format!("Chat Session: {title}")})
}

fn query(text: &str) -> Value {
    json!({"query": text, "oracle_dids": ["did:ixo:any"], "max_episodes": 50})
}

fn contents(reply: &Reply) -> Vec<String> {
    let results = reply.ok();
    let episodes = results["results"][0]["episodes"].as_array().unwrap().clone();
    let mut found: Vec<String> =
        episodes.iter().map(|one| one["content"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

fn found(server: &Server, token: &str, room: &str, text: &str) -> Vec<String> {
    contents(&call(server, token, Some(room), BATCH, &json!({"queries": [query(text)]})))
}

/// The server's own name for itself, as clients learn it.
pub(crate) fn did(server: &Server) -> String {
    let document = server.client_as(None).get("/.well-known/did.json").ok();
    document["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_token_gets_the_status_it_deserves() {
    let setup = Setup::new().config(OPEN);
    let server = setup.start();
    let did = did(&server);
    assert_eq!(did, format!("did:web:127.0.0.1%3A{}", server.addr().port()));
    let (user, oracle, thief) = (Signer::new(1), Signer::new(2), Signer::new(3));
    let grant = Draft::new(&user, &oracle.did).sign();
    let narrow = vec![("memory/search", "ixo:memory")];
    let small = Draft { can: narrow.clone(), ..Draft::new(&user, &oracle.did) }.sign();
    let forged = Draft { signer: &thief, ..Draft::new(&user, &thief.did) }.sign();
    let good = token(&user, Some(&oracle), &did);
    let body = json!({"messages": [message("Ana", "a heron", "A")]});
    for (token, expected) in [
        (good.clone(), 202),
        (token(&user, None, &did), 202),
        (hour(Draft::new(&oracle, &did)).by(&[&forged, &grant]).token(), 202),
        (in_person(&user, &did, now() - 1), 401),
        (in_person(&user, "did:web:elsewhere", now() + 60), 401),
        (hour(Draft::new(&thief, &did)).by(&[&forged]).token(), 401),
        (hour(Draft { signer: &thief, ..Draft::new(&user, &did) }).token(), 401),
        (in_person(&Signer::named("did:ixo:ixo1x", 4), &did, now() + 60), 401),
        (hour(Draft::new(&thief, &did)).by(&[&grant]).token(), 403),
        (hour(Draft::new(&oracle, &did)).by(&[&small]).token(), 403),
        (hour(Draft { can: vec![("*", "ixo:memory")], ..Draft::new(&user, &did) }).token(), 403),
        (hour(Draft { can: vec![("crm/*", "ixo:crm")], ..Draft::new(&user, &did) }).token(), 403),
        (hour(Draft { can: narrow, ..Draft::new(&user, &did) }).token(), 403),
        // A token that is sent about must end, and soon.
        (Draft::new(&user, &did).token(), 401),
        (in_person(&user, &did, now() + 2 * 86_400), 401),
        (ADMIN_KEY.to_owned(), 401),
        ("x".to_owned(), 401),
    ] {
        let reply = call(&server, &token, Some(ROOM), MESSAGES, &body);
        assert_eq!(reply.status, expected, "{}", reply.text());
        if expected >= 400 {
            let detail = reply.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.starts_with(&format!("{expected} ")), "{detail}");
        }
    }
    // The same token again and again, for reading too.
    for _ in 0..5 {
        assert_eq!(found(&server, &good, ROOM, "heron"), ["a heron"]);
    }
    let mut client = server.client_as(Some(&good)).without_beta();
    let with = |headers: &[(&str, &str)]| -> Vec<(String, String)> {
        headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    for (method, path, headers, expected) in [
        ("POST", MESSAGES, with(&[("x-auth-type", "ucan")]), 400),
        ("POST", MESSAGES, with(&[("x-room-id", ROOM)]), 401),
        ("POST", MESSAGES, with(&[("x-room-id", ROOM), ("x-auth-type", "jwt")]), 401),
        ("GET", MESSAGES, with(&[("x-room-id", ROOM), ("x-auth-type", "ucan")]), 405),
        ("GET", MESSAGES, with(&[("x-room-id", ROOM)]), 401),
        ("GET", "/qiforge/sse", with(&[]), 404),
        ("POST", "/qiforge//messages", with(&[("x-room-id", ROOM), ("x-auth-type", "ucan")]), 202),
        // A visitor's token opens no other door.
        ("GET", "/v1/memory_stores", with(&[("x-auth-type", "ucan")]), 401),
    ] {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let reply = client.call_with(method, path, (method == "POST").then_some(&body), &headers);
        assert_eq!(reply.status, expected, "{method} {path} {headers:?}: {}", reply.text());
    }
    server.stop();
}

#[test]
fn tokens_are_in_no_log() {
    let setup = Setup::new().config(OPEN);
    let server = setup.start();
    let token = token(&Signer::new(1), Some(&Signer::new(2)), &did(&server));
    let body = json!({"messages": [message("Ana", "a heron", "A")]});
    assert_eq!(call(&server, &token, Some(ROOM), MESSAGES, &body).status, 202);
    server.stop();
    let printed = setup.printed();
    assert!(!printed.contains(&token) && !printed.contains("heron") && !printed.contains(ROOM));
}

fn a_conversation_is_kept_once(servers: &[Server]) {
    let (user, oracle) = (Signer::new(1), Signer::new(2));
    let token = token(&user, Some(&oracle), DID);
    let batch = |count: usize| {
        let messages: Vec<Value> =
            (0..count).map(|at| message("Ana", &format!("heron number {at}"), "A")).collect();
        json!({ "messages": messages })
    };
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for number in 0..8 {
            let (server, start, token) = (&servers[number % servers.len()], &start, &token);
            let body = batch(40);
            scope.spawn(move || {
                start.wait();
                let reply = call(server, token, Some(ROOM), MESSAGES, &body);
                assert_eq!(reply.status, 202, "{}", reply.text());
                // What was acknowledged is found by the next request.
                assert_eq!(found(server, token, ROOM, "heron").len(), 40);
            });
        }
    });
    for server in servers {
        let reply = call(server, &token, Some(ROOM), MESSAGES, &batch(43));
        let told = reply.json()["message"].as_str().unwrap().to_owned();
        let is_first = server.addr() == servers[0].addr();
        let expected = if is_first { "3 messages added" } else { "0 messages added" };
        assert!(told.starts_with(expected), "{told}");
        assert_eq!(found(server, &token, ROOM, "heron").len(), 43);
    }
    // For the operator they are memories like any other, in their order.
    let mut admin = servers[0].client();
    let stores = admin.get("/v1/memory_stores?limit=100").ok();
    let is_it = |store: &&Value| store["name"].as_str().unwrap().contains(ROOM);
    let store = stores["data"].as_array().unwrap().iter().find(is_it).unwrap()["id"].clone();
    let url = format!("/v1/memory_stores/{}/memories?limit=100", store.as_str().unwrap());
    let memories = admin.get(&url).ok();
    let paths: Vec<&str> = memories["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["path"].as_str())
        .collect();
    let expected: Vec<String> = (1..=43).map(|number| format!("/messages/{number:012}")).collect();
    assert_eq!(paths, expected);
}

/// The door as it is opened with nothing else to say.
pub(crate) const OPEN: &str = "[search]\nembedder = 'none'\n[qiforge]\n";
pub(crate) const NAMED: &str =
    "[search]\nembedder = 'none'\n[qiforge]\ndid = 'did:web:memory.example.org'\n";

#[test]
fn a_conversation_that_is_handed_over_again_is_kept_once() {
    let setup = Setup::new().config(NAMED);
    a_conversation_is_kept_once(&[setup.start()]);
}

#[test]
fn a_conversation_is_kept_once_across_servers() {
    let cluster = Cluster::fresh().with(|setup| setup.config(NAMED));
    let servers = cluster.start_together(2);
    a_conversation_is_kept_once(&servers);
    servers.into_iter().for_each(Server::stop);
    cluster.check();
}

/// Users, oracles and rooms write and ask at random; every text has a word of its own.
fn nobody_meets_anybody(server: &Server, rounds: usize) {
    let mut dice = Dice::seeded(seed_or("visits", || 7));
    let users: Vec<Signer> = (1..4).map(Signer::new).collect();
    let oracles: Vec<Signer> = (11..13).map(Signer::new).collect();
    let rooms = ["!one:s", "!two:s"];
    let levels = ["user", "oracle", "both"];
    let strategies = ["balanced", "diverse", "precise", "recent_memory", "facts_only"];
    let filters = [
        Value::Null,
        json!({"invalid_at": [[{"comparison_operator": "IS NULL", "date": null}]]}),
        json!({"node_labels": ["Person"], "edge_types": ["Likes"]}),
        json!({"created_at": [[{"comparison_operator": ">", "date": "2020-01-01"}]]}),
    ];
    let mut written: Vec<(String, [usize; 3])> = Vec::new();
    for round in 0..rounds {
        let place = [dice.below(3), dice.below(3), dice.below(2)];
        let [user, oracle, room] = place;
        let token = token(&users[user], oracles.get(oracle), DID);
        if dice.below(2) == 0 {
            let word = format!("Heron{round}x");
            let body =
                json!({"messages": [message("Ana", &format!("I like {word} and herons."), "A")]});
            let reply = call(server, &token, Some(rooms[room]), MESSAGES, &body);
            assert_eq!(reply.status, 202, "{}", reply.text());
            written.push((word, place));
            continue;
        }
        let asked = json!({"queries": [{
            "query": "who likes herons?", "oracle_dids": [oracles[0].did, users[0].did],
            "knowledge_level": levels[dice.below(3)], "strategy": strategies[dice.below(5)],
            "search_filters": filters[dice.below(4)], "max_episodes": 50, "max_facts": 50,
            "max_entities": 50, "max_communities": 50,
        }]});
        let reply = call(server, &token, Some(rooms[room]), BATCH, &asked);
        assert_eq!(reply.status, 200, "{}", reply.text());
        for (word, theirs) in &written {
            let is_shown = reply.text().contains(word.as_str());
            assert!(!is_shown || *theirs == place, "{place:?} sees {word} of {theirs:?}: {asked}");
        }
    }
    for (word, [user, oracle, room]) in &written {
        let token = token(&users[*user], oracles.get(*oracle), DID);
        let found = found(server, &token, rooms[*room], word);
        assert!(found.iter().any(|text| text.contains(word.as_str())), "{word} is lost");
    }
}

#[test]
fn nobody_meets_what_is_somebody_elses() {
    let setup = Setup::new().config(NAMED);
    nobody_meets_anybody(&setup.start(), count("visits"));
}

#[test]
fn nobody_meets_what_is_somebody_elses_on_postgresql() {
    let cluster = Cluster::fresh().with(|setup| setup.config(NAMED));
    nobody_meets_anybody(&cluster.start(), count("visits_on_postgres"));
}

/// Somebody who publishes keys: answers every request with what was last put there.
struct Publisher {
    addr: SocketAddr,
    document: Arc<Mutex<Option<Value>>>,
    asked: Arc<AtomicUsize>,
}

impl Publisher {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (document, asked) =
            (Arc::<Mutex<Option<Value>>>::default(), Arc::<AtomicUsize>::default());
        let (theirs, count) = (Arc::clone(&document), Arc::clone(&asked));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut buffer = [0; 8192];
                let _ = stream.read(&mut buffer);
                count.fetch_add(1, Ordering::SeqCst);
                let answer = match theirs.lock().unwrap().as_ref() {
                    Some(document) => format!(
                        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{document}",
                        document.to_string().len()
                    ),
                    None => {
                        "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                            .to_owned()
                    }
                };
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { addr, document, asked }
    }

    fn publish(&self, document: Value) {
        *self.document.lock().unwrap() = Some(document);
    }
}

fn method(signer: &Signer) -> Value {
    let key = signer.key();
    json!({"type": "Ed25519VerificationKey2020", "publicKeyMultibase": key.strip_prefix("did:key:")})
}

#[test]
fn keys_are_looked_up_where_they_are_published() {
    let (web, chain) = (Publisher::start(), Publisher::start());
    let oracle = Signer::named(&format!("did:web:127.0.0.1%3A{}", web.addr.port()), 2);
    let (user, vouched) =
        (Signer::named("did:ixo:ixo1ana", 1), Signer::named("did:ixo:ixo1bob", 3));
    let key = vouched.key();
    let config = format!(
        "{NAMED}web = true\nweb_private = true\nindexer = 'http://{}/graphql'\n[qiforge.keys]\n'did:ixo:ixo1bob' = ['{key}']\n",
        chain.addr
    );
    let setup = Setup::new().config(&config);
    let server = setup.start();
    let status = |user: &Signer| {
        let token = token(user, Some(&oracle), DID);
        call(&server, &token, Some(ROOM), BATCH, &json!({"queries": []})).status
    };
    // What was not found is asked for again.
    assert_eq!((status(&vouched), status(&user)), (401, 401));
    web.publish(json!({"id": "did:web:somebody.else", "verificationMethod": [method(&oracle)]}));
    assert_eq!(status(&vouched), 401);
    web.publish(json!({"id": oracle.did, "verificationMethod": [method(&user), method(&oracle)]}));
    assert_eq!((status(&vouched), status(&user)), (200, 401));
    let node = json!({"id": user.did, "verificationMethod": [method(&user)]});
    chain.publish(json!({"data": {"iids": {"nodes": [node]}}}));
    assert_eq!(status(&user), 200);
    // What was found is not.
    let before = (web.asked.load(Ordering::SeqCst), chain.asked.load(Ordering::SeqCst));
    for _ in 0..5 {
        assert_eq!((status(&vouched), status(&user)), (200, 200));
    }
    assert_eq!((web.asked.load(Ordering::SeqCst), chain.asked.load(Ordering::SeqCst)), before);
    // Nobody is asked about a token that is not for us.
    let stray = token(&Signer::named("did:ixo:ixo1new", 9), Some(&oracle), "did:web:elsewhere");
    let reply = call(&server, &stray, Some(ROOM), BATCH, &json!({"queries": []}));
    assert_eq!(reply.status, 401);
    assert_eq!(chain.asked.load(Ordering::SeqCst), before.1);
    server.stop();
}

#[test]
fn the_operator_says_who_may_come() {
    let (ana, bob, oracle) = (Signer::new(1), Signer::new(2), Signer::new(3));
    let status = |server: &Server, user: &Signer, oracle: Option<&Signer>| {
        let token = token(user, oracle, DID);
        call(server, &token, None, BATCH, &json!({"queries": []})).status
    };
    let users = format!("{NAMED}ignore_room = true\nallow_users = ['{}']\n", ana.did);
    let setup = Setup::new().config(&users);
    let server = setup.start();
    assert_eq!(status(&server, &ana, Some(&oracle)), 200, "the room does not matter here");
    assert_eq!(status(&server, &bob, Some(&oracle)), 403);
    server.stop();
    let oracles = format!("{NAMED}ignore_room = true\nallow_oracles = ['{}']\n", oracle.did);
    let setup = Setup::new().config(&oracles);
    let server = setup.start();
    assert_eq!(status(&server, &ana, Some(&oracle)), 200);
    assert_eq!(status(&server, &ana, Some(&bob)), 403);
    assert_eq!(status(&server, &ana, None), 403, "nobody comes in person past a list of oracles");
    server.stop();
}

#[test]
fn the_door_is_closed_unless_it_is_configured() {
    let (ana, oracle) = (Signer::new(1), Signer::new(3));
    for setup in [Setup::new(), Setup::new().config("[qiforge]\nenabled = false\n")] {
        let server = setup.start();
        assert_eq!(server.client_as(None).get("/.well-known/did.json").status, 404);
        let token = token(&ana, Some(&oracle), DID);
        for path in [BATCH, MESSAGES, "/qiforge/mcp", "/qiforge//messages", "/qiforge/sse"] {
            let reply = call(&server, &token, Some(ROOM), path, &json!({}));
            let detail = reply.json()["detail"].as_str().unwrap().to_owned();
            assert_eq!(reply.status, 404, "{path}: {detail}");
            assert!(detail.starts_with("404 ") && detail.contains("[qiforge]"), "{detail}");
        }
        server.stop();
    }
}

#[test]
fn visitors_keep_so_much_and_no_more() {
    let (ana, bob, eve) = (Signer::new(1), Signer::new(2), Signer::new(3));
    let config = format!(
        "{NAMED}ignore_room = true\nvisitor_memories = 3\nvisitor_mb = 1\nvisitors_memories = 5\n"
    );
    let setup = Setup::new().config(&config);
    let server = setup.start();
    let hand_over = |user: &Signer, title: &str, texts: &[&str]| {
        let messages: Vec<Value> = texts.iter().map(|text| message("Ana", text, title)).collect();
        let token = token(user, None, DID);
        call(&server, &token, None, MESSAGES, &json!({ "messages": messages }))
    };
    let full = |reply: Reply, whose: &str| {
        assert_eq!(reply.status, 507, "{}", reply.text());
        assert!(reply.text().contains(whose), "{}", reply.text());
    };
    assert_eq!(hand_over(&ana, "A", &["one", "two"]).status, 202);
    full(hand_over(&ana, "B", &["three", "four"]), "a visitor may keep 3 memories and 1 MB");
    // A conversation that is handed over again costs nothing.
    assert_eq!(hand_over(&ana, "A", &["one", "two"]).status, 202);
    assert_eq!(hand_over(&ana, "A", &["one", "two", "three"]).status, 202);
    full(hand_over(&bob, "A", &[&"x".repeat(600_000), &"y".repeat(600_000)]), "1 MB");
    assert_eq!(hand_over(&bob, "A", &["one", "two"]).status, 202);
    full(hand_over(&eve, "A", &["one"]), "all visitors together");
    let read = found(&server, &token(&ana, None, DID), ROOM, "two");
    assert!(read.contains(&"two".to_owned()), "reading goes on: {read:?}");
    server.stop();
}

#[test]
fn strangers_make_the_server_ask_nobody() {
    let web = Publisher::start();
    let named = |number: u64| {
        Signer::named(&format!("did:web:127.0.0.1%3A{}:{number}", web.addr.port()), number)
    };
    let asked = || web.asked.load(Ordering::SeqCst);
    let in_the_name_of = |oracle: &Signer, signer: &Signer, count: u64| {
        let users: Vec<Signer> = (100..100 + count).map(named).collect();
        let grants: Vec<_> =
            users.iter().map(|user| Draft::new(user, &oracle.did).sign()).collect();
        let all: Vec<_> = grants.iter().collect();
        let draft = Draft { signer, ..Draft::new(oracle, DID) };
        draft.until(now() + 3600).by(&all).token()
    };
    let ask = |server: &Server, token: &str| {
        call(server, token, Some(ROOM), BATCH, &json!({"queries": []})).status
    };
    // Unless the operator turns it on, and then only on the internet.
    for more in ["", "web = true\n"] {
        let setup = Setup::new().config(&format!("{NAMED}{more}"));
        let server = setup.start();
        assert_eq!(ask(&server, &in_the_name_of(&named(1), &named(1), 1)), 401);
        assert_eq!(asked(), 0, "{more}");
        server.stop();
    }
    let setup = Setup::new().config(&format!("{NAMED}web = true\nweb_private = true\n"));
    let server = setup.start();
    // Whose own signature does not hold has nobody else looked up.
    let (oracle, thief) = (Signer::new(2), Signer::new(3));
    assert_eq!(ask(&server, &in_the_name_of(&oracle, &thief, 40)), 401);
    assert_eq!(asked(), 0);
    // One token is worth three lookups, however many issuers it names.
    assert_eq!(ask(&server, &in_the_name_of(&oracle, &oracle, 40)), 401);
    assert_eq!(asked(), 3);
    assert_eq!(ask(&server, &in_the_name_of(&named(1), &named(1), 40)), 401);
    assert_eq!(asked(), 4, "the first was not found, so its signature does not hold");
    // Thirty that find nothing, and the address is asked to slow down.
    let statuses: Vec<u16> =
        (0..40).map(|number| ask(&server, &in_the_name_of(&named(number), &oracle, 1))).collect();
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[39], 429, "{statuses:?}");
    assert!(asked() < 40, "{}", asked());
    server.stop();
}

#[test]
fn so_many_come_for_the_first_time_on_one_day() {
    let (ana, bob, eve, oracle) = (Signer::new(1), Signer::new(2), Signer::new(4), Signer::new(3));
    let config = format!("{NAMED}ignore_room = true\nnew_visitors_per_day = 3\n");
    let setup = Setup::new().config(&config);
    let server = setup.start();
    let ask = |user: &Signer| {
        let token = token(user, Some(&oracle), DID);
        call(&server, &token, None, BATCH, &json!({"queries": []}))
    };
    // The oracle is one of the three.
    assert_eq!((ask(&ana).status, ask(&bob).status), (200, 200));
    let refused = ask(&eve);
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert!(refused.text().contains("too many visitors"), "{}", refused.text());
    assert_eq!((ask(&ana).status, ask(&bob).status), (200, 200), "who is known comes always");
    server.stop();
}
