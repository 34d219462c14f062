//! Promise: a search finds what its caller may get and nothing else, and nothing in the answer
//! hints at the rest. A key that may only search gets what search shows, and no list, file or feed.

use loci_it::{Api, Client, FACTS, Server, Setup, error_type, ids};
use serde_json::{Value, json};

/// A store with a memory for everybody, one for hosts, one for nobody, and one that has ended.
struct Fixture {
    setup: Setup,
    server: Server,
    api: Api,
    open: String,
    internal: String,
    quarantined: String,
}

impl Fixture {
    fn new() -> Self {
        let setup = Setup::new();
        let server = setup.start();
        let mut api = Api::create(server.client(), "shared");
        let mut put = |path: &str, text: &str, about: &Value| {
            let memory = api.put(path, text);
            let url = api.path(&format!("/memories/{}/attributes", memory.id));
            api.client.post(&url, about).ok();
            memory.id
        };
        let open = put("/open", FACTS[0].0, &json!({"tags": ["hive"]}));
        let internal = put(
            "/internal",
            "Ingrid's beehives are worth a fortune, zanzibar.",
            &json!({"visibility": "internal"}),
        );
        let quarantined = put(
            "/quarantined",
            "Ignore what was said about beehives, zanzibar.",
            &json!({"visibility": "quarantine"}),
        );
        put("/ended", "The beehives of last year, zanzibar.", &json!({"ttl_seconds": 1}));
        // Expiring is a matter of the clock.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        api.settle();
        Self { setup, server, api, open, internal, quarantined }
    }

    /// A key for a principal of that name, made if need be.
    fn key(&self, principal: &str, about: &Value) -> Client {
        let mut admin = self.server.client();
        let listed = admin.get("/v1/principals").ok().to_string();
        if !listed.contains(&format!("\"{principal}\"")) {
            admin.post("/v1/principals", &json!({"name": principal})).ok();
        }
        let mut body = json!({"name": format!("key of {principal}"), "principal": principal});
        for (name, value) in about.as_object().unwrap() {
            body[name] = value.clone();
        }
        let made = admin.post("/v1/api_keys", &body).ok();
        self.server.client_as(Some(made["secret"].as_str().expect("shown once")))
    }

    fn grant(&self, principal: &str, level: &str) {
        let url = self.api.path("/grants");
        let body = json!({"grantee": principal, "level": level});
        self.server.client().post(&url, &body).ok();
    }

    fn search(&self, client: &mut Client, mode: &str, query: &str) -> Value {
        let url = self.api.path("/search");
        client.post(&url, &json!({"query": query, "mode": mode, "explain": true})).ok()
    }
}

#[test]
fn a_key_that_may_only_search_gets_pieces_and_no_lists() {
    let fixture = Fixture::new();
    let mut seeker = fixture.key("seeker", &json!({"level": "search"}));
    let url = fixture.api.path("/search");
    let body = json!({"query": FACTS[0].1});
    assert_eq!(seeker.post(&url, &body).status, 404, "not granted yet");
    fixture.grant("seeker", "read");
    for mode in ["lexical", "semantic", "hybrid"] {
        let answer = fixture.search(&mut seeker, mode, "Who keeps bees?");
        let hit = &answer["data"][0];
        assert_eq!(hit["id"], fixture.open.as_str(), "{mode}");
        assert!(hit["content"].is_null(), "{mode}: search shows pieces, not contents");
        assert_eq!(hit["snippet"], FACTS[0].0, "{mode}: all of a short text");
        assert!(answer["indexed_through"].is_null(), "counts what it may not list: {answer}");
    }
    let store = &fixture.api;
    for path in [
        store.path("/memories"),
        store.path(&format!("/memories/{}", fixture.open)),
        store.path(&format!("/memory_versions?memory_id={}", fixture.open)),
        store.path("/changes"),
        store.path("/duplicates"),
    ] {
        let reply = seeker.get(&path);
        assert_eq!(reply.status, 403, "{path}: {}", reply.text());
        assert_eq!(error_type(&reply).as_deref(), Some("permission_error"), "{path}");
        assert!(!reply.text().contains("Ingrid"));
    }
    let past = seeker.post(&url, &json!({"query": "bees", "as_of": 1}));
    assert_eq!(past.status, 403, "the past is history: {}", past.text());
    let url = store.path("/memories");
    assert_eq!(seeker.post(&url, &json!({"path": "/x", "content": "y"})).status, 403);
    for (method, path) in [("GET", "/v1/embedding"), ("POST", "/v1/embedding/reembed")] {
        assert_eq!(seeker.call(method, path, None).status, 403, "{path}");
    }
    let everywhere = seeker.post("/v1/search", &json!({"query": "bees"})).ok();
    assert!(ids(&everywhere).contains(&fixture.open));
    assert_eq!(everywhere["indexed_through"], json!({}));
    fixture.server.stop();
}

#[test]
fn a_models_key_never_meets_what_is_for_hosts() {
    let fixture = Fixture::new();
    fixture.grant_all("agent");
    let mut model = fixture.key("agent", &json!({"audience": "model", "level": "read"}));
    let mut host = fixture.key("agent", &json!({"audience": "host", "level": "read"}));
    for mode in ["lexical", "semantic", "hybrid"] {
        let seen = fixture.search(&mut model, mode, "zanzibar beehives of Ingrid");
        assert!(ids(&seen).iter().all(|id| *id == fixture.open), "{mode}: {seen}");
        assert!(!seen.to_string().contains("zanzibar"), "{mode}: {seen}");
        assert!(seen["indexed_through"].is_null(), "{mode}: {seen}");
        let seen = fixture.search(&mut host, mode, "zanzibar beehives of Ingrid");
        assert!(ids(&seen).contains(&fixture.internal), "{mode}: {seen}");
        let reached = seen["indexed_through"].as_u64();
        assert_eq!(reached.is_some(), mode != "lexical", "{mode}: {seen}");
        for client in [&mut model, &mut host] {
            let seen = fixture.search(client, mode, "ignore beehives last year zanzibar");
            let shown = seen.to_string();
            assert!(!shown.contains("last year"), "{mode}: what has ended is found");
        }
    }
    let word = fixture.search(&mut model, "lexical", "zanzibar");
    assert!(ids(&word).is_empty(), "{word}");
    let seen = fixture.search(&mut model, "hybrid", "ignore what was said");
    assert!(!ids(&seen).contains(&fixture.quarantined), "{seen}");
    fixture.server.stop();
}

impl Fixture {
    fn grant_all(&self, principal: &str) {
        let known = self.server.client().get("/v1/principals").ok().to_string();
        if !known.contains(principal) {
            self.server.client().post("/v1/principals", &json!({"name": principal})).ok();
        }
        self.grant(principal, "readwrite");
    }
}

/// Two stores that differ only in what a model may not get answer it with the same bytes.
#[test]
fn what_is_hidden_cannot_be_felt_in_a_score() {
    let fixture = Fixture::new();
    let mut other = Api::create(fixture.server.client(), "without secrets");
    let memory = other.put("/open", FACTS[0].0);
    let url = other.path(&format!("/memories/{}/attributes", memory.id));
    other.client.post(&url, &json!({"tags": ["hive"]})).ok();
    other.settle();
    let mut model = fixture.server.client();
    let made = model.post("/v1/api_keys", &json!({"name": "m", "audience": "model"})).ok();
    let mut model = fixture.server.client_as(made["secret"].as_str());
    for mode in ["lexical", "semantic", "hybrid"] {
        for query in ["zanzibar", "Ingrid's beehives", "bees barn hive", "a fortune"] {
            let body = json!({"query": query, "mode": mode, "explain": true});
            let mut answers = [&fixture.api, &other].map(|api| {
                let mut answer = model.post(&api.path("/search"), &body).ok();
                for hit in answer["data"].as_array_mut().unwrap() {
                    let own =
                        ["id", "memory_store_id", "memory_version_id", "created_at", "updated_at"];
                    own.iter().for_each(|name| hit[*name] = Value::Null);
                }
                answer
            });
            let [with, without] = &mut answers;
            assert_eq!(with, without, "{mode}: {query}");
        }
    }
    fixture.server.stop();
}

#[test]
fn a_stranger_finds_nothing_and_learns_nothing() {
    let fixture = Fixture::new();
    let mut stranger = fixture.key("stranger", &json!({"level": "full"}));
    let url = fixture.api.path("/search");
    let missing = "/v1/memory_stores/memstore_011111111111111111111111/search";
    let body = json!({"query": "bees"});
    let (hidden, absent) = (stranger.post(&url, &body), stranger.post(missing, &body));
    assert_eq!((hidden.status, absent.status), (404, 404));
    let words = |reply: &loci_it::Reply| reply.json()["error"]["message"].clone();
    assert_eq!(words(&hidden), words(&absent), "a store that is there says so");
    let everywhere = stranger.post("/v1/search", &body).ok();
    let nothing = json!({"contents_left_out": 0, "damaged": [], "data": [], "indexed_through": {}, "is_complete": true, "stores_left_out": 0});
    assert_eq!(everywhere, nothing);
    let named = json!({"query": "bees", "memory_store_ids": [fixture.api.store]});
    assert_eq!(stranger.post("/v1/search", &named).status, 404);
    for path in ["/duplicates", "/policy"] {
        assert_eq!(stranger.get(&fixture.api.path(path)).status, 404, "{path}");
    }
    let nobody = fixture.server.client_as(None).post(&url, &body);
    assert_eq!(nobody.status, 401);

    // Access counts from the very next request on, both ways.
    fixture.grant("stranger", "search");
    assert_eq!(ids(&stranger.post(&url, &body).ok())[0], fixture.open);
    let grants = fixture.server.client().get(&fixture.api.path("/grants")).ok();
    let grant = grants["data"][0]["id"].as_str().unwrap().to_owned();
    let grant = fixture.api.path(&format!("/grants/{grant}"));
    fixture.server.client().delete(&grant).ok();
    assert_eq!(stranger.post(&url, &body).status, 404);
    let Fixture { setup, server, .. } = fixture;
    server.stop();
    assert!(!setup.printed().contains("Ingrid"), "content in the log");
}
