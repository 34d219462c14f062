//! Promise: the six tools of QiForge's oracles are there over the Model Context Protocol, as its
//! adapter calls them: stateless, refused alike on every method, one text of JSON for each answer,
//! and what was said is found and known by the next request.

use crate::qiforge::{OPEN, did, now};
use loci_it::ucan::{Signer, delegated};
use loci_it::{Cluster, Loci, Reply, Server, Setup};
use serde_json::{Value, json};
use std::fs;

const ROOM: &str = "!room:matrix.example.org";

struct Oracle<'a> {
    server: &'a Server,
    token: String,
    room: &'static str,
}

impl<'a> Oracle<'a> {
    fn of(server: &'a Server, user: u64, oracle: u64) -> Self {
        let (user, oracle) = (Signer::new(user), Signer::new(oracle));
        let token = delegated(&user, &oracle, &did(server), now() + 3600);
        Self { server, token, room: ROOM }
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let headers = [
            ("x-auth-type", "ucan"),
            ("x-room-id", self.room),
            ("accept", "application/json, text/event-stream"),
        ];
        let mut client = self.server.client_as(Some(&self.token)).without_beta();
        client.call_with(method, path, body, &headers)
    }

    fn ask(&self, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let reply = self.send("POST", "/qiforge/mcp", Some(&body));
        assert_eq!(reply.status, 200, "{}", reply.text());
        let text = reply.text();
        // Either form of answer is one JSON document.
        let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
        serde_json::from_str::<Value>(data).unwrap()["result"].clone()
    }

    /// The text of a tool's answer, and whether it is a failure.
    fn call(&self, name: &str, arguments: &Value) -> (String, bool) {
        let result = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{result}");
        assert!(result.get("structuredContent").is_none_or(Value::is_null), "{result}");
        (content[0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }

    fn done(&self, name: &str, arguments: &Value) -> Value {
        let (text, is_error) = self.call(name, arguments);
        assert!(!is_error, "{text}");
        assert!(!text.to_lowercase().contains("error"), "{text}");
        serde_json::from_str(&text).unwrap()
    }

    fn search(&self, query: &str) -> Value {
        self.done("search_memory_engine", &json!({"query": query, "strategy": "balanced"}))
    }
}

fn tools_work(server: &Server) {
    let ana = Oracle::of(server, 1, 9);
    let begun = ana.ask(
        "initialize",
        &json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "adapter", "version": "1"}}),
    );
    assert_eq!(begun["protocolVersion"], "2025-11-25");
    let listed = ana.ask("tools/list", &json!({}));
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "search_memory_engine",
            "add_memory",
            "add_oracle_knowledge",
            "delete_episode",
            "delete_edge",
            "clear"
        ]
    );
    assert_eq!(listed, ana.ask("tools/list", &json!({})), "the same bytes every time");

    ana.done("add_memory", &json!({"name": "home", "content": "User lives in Lisbon."}));
    let found = ana.search("Where is home?");
    assert_eq!(found["episodes"][0]["content"], "User lives in Lisbon.");
    assert_eq!(found["facts"][0]["fact"], "User lives in Lisbon", "{found}");
    let ben = Oracle::of(server, 2, 9);
    assert!(!ben.search("Where is home? Lisbon").to_string().contains("lives in Lisbon"));

    // A fact is taken away, and what was said stays.
    let edge = found["facts"][0]["uuid"].clone();
    let (text, is_error) = ana.call("delete_edge", &json!({"edge_uuid": edge}));
    assert!(is_error, "unconfirmed: {text}");
    let confirmed = json!({"edge_uuid": edge, "confirmed_deletion_from_user": true});
    assert!(ben.call("delete_edge", &confirmed).1, "somebody else's");
    ana.done("delete_edge", &confirmed);
    let found = ana.search("Where is home?");
    assert_eq!(
        (found["facts"].as_array().unwrap().len(), found["episodes"].as_array().unwrap().len()),
        (0, 1)
    );
    ana.done("clear", &json!({"confirmed_deletion_from_user": true}));
    assert!(ana.search("Where is home?")["episodes"].as_array().unwrap().is_empty());
}

#[test]
fn six_tools_work_as_the_adapter_calls_them() {
    let setup = Setup::new().config(OPEN);
    tools_work(&setup.start());
}

#[test]
fn six_tools_work_on_postgresql() {
    let cluster = Cluster::fresh().with(|setup| setup.config(OPEN));
    tools_work(&cluster.start());
}

#[test]
fn whoever_is_not_let_in_is_told_so_on_every_method() {
    let setup = Setup::new().config(OPEN);
    let server = setup.start();
    let mut ana = Oracle::of(&server, 1, 9);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for path in ["/qiforge/mcp", "/qiforge//mcp"] {
        assert_eq!(ana.send("POST", path, Some(&hello)).status, 200, "{path}");
        let reply = ana.send("GET", path, None);
        assert_eq!(reply.status, 405, "{}", reply.text());
    }
    assert_eq!(ana.send("GET", "/qiforge/sse", None).status, 404);
    ana.room = "";
    assert_eq!(ana.send("POST", "/qiforge/mcp", Some(&hello)).status, 400);
    ana.room = ROOM;
    ana.token = "AAAA".into();
    for method in ["GET", "POST", "DELETE"] {
        let body = (method == "POST").then_some(&hello);
        let reply = ana.send(method, "/qiforge/mcp", body);
        assert_eq!(reply.status, 401, "{method}");
        assert!(reply.json()["detail"].as_str().unwrap().starts_with("401 "), "{}", reply.text());
    }
}

/// Documents become what an oracle knows: public for those who come through it, private for its owners.
#[test]
fn documents_become_what_an_oracle_knows() {
    let (user, owner, oracle) = (Signer::new(1), Signer::new(3), Signer::new(9));
    let config =
        format!("{OPEN}\n[qiforge.oracles.\"{}\"]\nowners = [\"{}\"]\n", oracle.did, owner.did);
    let setup = Setup::new().config(&config);
    let server = setup.start();
    let scratch = setup.scratch();
    fs::write(scratch.join("prices.md"), "# Prices\n\n## Tea\n\nTea costs four euros.\n").unwrap();
    fs::write(scratch.join("secret.txt"), "The supplier of the tea is Marwick.").unwrap();
    let loci = Loci::on_data(setup.data());
    let file = |name: &str| scratch.join(name).to_str().unwrap().to_owned();
    loci.ok(&["ingest", "--oracle", &oracle.did, &file("prices.md")]);
    loci.ok(&["ingest", "--oracle", &oracle.did, "--private", &file("secret.txt")]);
    let by = |user: &Signer, through: &Signer| Oracle {
        server: &server,
        token: delegated(user, through, &did(&server), now() + 3600),
        room: ROOM,
    };
    let told = by(&user, &oracle).search("What does tea cost?").to_string();
    assert!(told.contains("four euros") && !told.contains("Marwick"), "{told}");
    let told = by(&owner, &oracle).search("Who is the supplier of tea?").to_string();
    assert!(told.contains("Marwick"), "{told}");
    let told = by(&user, &Signer::new(8)).search("What does tea cost?").to_string();
    assert!(!told.contains("four euros"), "another oracle's: {told}");

    // Once more, shorter: what it no longer says goes.
    fs::write(scratch.join("prices.md"), "# Prices\n\nAsk at the bar.\n").unwrap();
    loci.ok(&["ingest", "--oracle", &oracle.did, &file("prices.md")]);
    let told = by(&user, &oracle).search("Does the bar know what tea costs?").to_string();
    assert!(told.contains("Ask at the bar") && !told.contains("four euros"), "{told}");
}

#[test]
fn only_a_whole_key_of_an_administrator_makes_what_an_oracle_knows() {
    let setup = Setup::new();
    let server = setup.start();
    let wanted = json!({"oracle": "did:ixo:ixo1oracle"});
    for level in ["search", "read", "readwrite"] {
        let key = json!({"name": level, "level": level});
        let made = server.client().post("/v1/api_keys", &key).ok();
        let mut narrow = server.client_as(made["secret"].as_str());
        let reply = narrow.post("/v1/oracle_knowledge", &wanted);
        assert_eq!(reply.status, 403, "{level}: {}", reply.text());
    }
    let made = server.client().post("/v1/oracle_knowledge", &wanted).ok();
    assert_eq!(server.client().post("/v1/oracle_knowledge", &wanted).ok(), made, "made once");
    for odd in [json!({}), json!({"oracle": "ixo1oracle"}), json!([])] {
        let reply = server.client().post("/v1/oracle_knowledge", &odd);
        assert_eq!(reply.status, 400, "{}", reply.text());
    }
    server.stop();
}
