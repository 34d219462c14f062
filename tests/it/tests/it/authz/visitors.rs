//! Promise: a visitor of the QiForge door meets what is theirs and what an oracle says to everybody, at
//! the routes and at the tools; and only who owns an oracle writes what it knows, or meets what of it is
//! private.

use super::DOORS;
use crate::qiforge::now;
use loci_it::ucan::{Signer, delegated};
use loci_it::{ADMIN_KEY, Cluster, Loci, Reply, Server, Setup};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const DID: &str = "did:web:memory.example.org";
const ROOM: &str = "!room:matrix.example.org";
const MESSAGES: &str = "/qiforge/messages";
const BATCH: &str = "/qiforge/search-enhanced-batch";
/// The first visitor, the second, and the owner of the oracle through whom all of them come.
const VISITORS: [u64; 3] = [1, 2, 3];
const ORACLE: u64 = 9;

/// What a visitor may: who, in the order of [`VISITORS`].
const EXPECTED: &[(&str, &str)] = &[
    ("messages: keep in one's own place", "yyy"),
    ("batch: the first one's words", "ynn"),
    ("batch: the first one's words, about all oracles", "ynn"),
    ("batch: what the oracle says to everybody", "yyy"),
    ("batch: what of the oracle is private", "nny"),
    ("batch: the same through another oracle", "nnn"),
    ("tool: the first one's words", "ynn"),
    ("tool: what the oracle says to everybody", "yyy"),
    ("tool: what of the oracle is private", "nny"),
    ("tool: add to one's own place", "yyy"),
    ("tool: add to what the oracle knows", "nny"),
    ("tool: delete the first one's episode", "ynn"),
    ("tool: delete the first one's fact", "ynn"),
    ("tool: clear, and the first one's words are gone", "ynn"),
];

struct Visitor<'a> {
    server: &'a Server,
    token: String,
    elsewhere: String,
}

impl<'a> Visitor<'a> {
    fn of(server: &'a Server, visitor: u64) -> Self {
        let through =
            |oracle: u64| delegated(&Signer::new(visitor), &Signer::new(oracle), DID, now() + 3600);
        Self { server, token: through(ORACLE), elsewhere: through(ORACLE + 1) }
    }

    fn send(&self, token: &str, path: &str, body: &Value) -> Reply {
        let headers = [
            ("x-auth-type", "ucan"),
            ("x-room-id", ROOM),
            ("accept", "application/json, text/event-stream"),
        ];
        let mut client = self.server.client_as(Some(token)).without_beta();
        client.call_with("POST", path, Some(body), &headers)
    }

    fn keep(&self, text: &str) -> bool {
        let message = json!({"content": text, "role_type": "user", "role": "Ana", "name": "Ana",
            "source_description": "Chat Session: A"});
        self.send(&self.token, MESSAGES, &json!({"messages": [message]})).status == 202
    }

    /// Whether an answer of the batch route has a word, beside the query that it repeats.
    fn meets(&self, token: &str, word: &str, oracles: &Value) -> bool {
        let asked = format!("What about {word}?");
        let query = json!({"query": asked, "oracle_dids": oracles,
            "knowledge_level": "both", "max_episodes": 50, "max_facts": 50, "max_entities": 50});
        let reply = self.send(token, BATCH, &json!({"queries": [query]}));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.text().replace(&asked, "").contains(word)
    }

    /// What a tool answers; `None` when it refuses.
    fn tool(&self, name: &str, arguments: &Value) -> Option<Value> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}});
        let reply = self.send(&self.token, "/qiforge/mcp", &body);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let text = reply.text();
        let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
        let result = serde_json::from_str::<Value>(data).unwrap()["result"].clone();
        let told = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let is_refused = result["isError"] == true || told.to_lowercase().contains("\"error\"");
        (!is_refused).then(|| serde_json::from_str(&told).unwrap_or(Value::String(told)))
    }

    fn search(&self, word: &str) -> Value {
        let asked = json!({"query": format!("What about {word}?"), "strategy": "balanced"});
        self.tool("search_memory_engine", &asked).expect("everybody may search")
    }

    fn finds(&self, word: &str) -> bool {
        self.search(word)["episodes"].to_string().contains(word)
    }
}

/// Something new of the first visitor's, for one question: its episode and what is known by it.
fn episode(first: &Visitor<'_>, word: &str) -> (Value, Value) {
    let new = json!({"name": word, "content": format!("User works at {word}.")});
    first.tool("add_memory", &new).expect("everybody may add");
    let found = first.search(word);
    let of = |kind: &str| {
        let all = found[kind].as_array().cloned().unwrap_or_default();
        let one = all.into_iter().find(|one| one.to_string().contains(word));
        one.unwrap_or_else(|| panic!("{kind} of {word}: {found}"))["uuid"].clone()
    };
    (of("episodes"), of("facts"))
}

fn asked(server: &Server) -> Vec<(&'static str, String)> {
    let visitors = VISITORS.map(|visitor| Visitor::of(server, visitor));
    let first = &visitors[0];
    let oracle = json!([Signer::new(ORACLE).did]);
    let confirmed = |name: &str, id: &Value| {
        let mut arguments = json!({"confirmed_deletion_from_user": true});
        arguments[name] = id.clone();
        arguments
    };
    assert!(first.keep("My favourite bird is the Zanzibar heron."));
    let ask = |at: usize, row: usize| -> bool {
        let visitor = &visitors[at];
        let word = format!("Quux{row}x{at}");
        match row {
            0 => visitor.keep("Tea is fine."),
            1 => visitor.meets(&visitor.token, "Zanzibar", &oracle),
            2 => visitor.meets(&visitor.token, "Zanzibar", &json!(["did:ixo:any"])),
            3 => visitor.meets(&visitor.token, "euros", &oracle),
            4 => visitor.meets(&visitor.token, "Marwick", &oracle),
            5 => visitor.meets(&visitor.elsewhere, "Marwick", &oracle),
            6 => visitor.finds("Zanzibar"),
            7 => visitor.finds("euros"),
            8 => visitor.finds("Marwick"),
            9 => visitor.tool("add_memory", &json!({"name": word, "content": word})).is_some(),
            10 => {
                let new = json!({"name": word, "content": format!("All about {word}."),
                    "knowledge_space_type": "public", "confirmed_insertion_from_user": true});
                let said = visitor.tool("add_oracle_knowledge", &new).is_some();
                assert_eq!(first.finds(&word), said, "what is refused is not kept");
                said
            }
            11 => {
                let (id, _) = episode(first, &word);
                let gone =
                    visitor.tool("delete_episode", &confirmed("episode_uuid", &id)).is_some();
                assert_eq!(first.finds(&word), !gone, "what is refused stays");
                gone
            }
            12 => {
                let (_, id) = episode(first, &word);
                let gone = visitor.tool("delete_edge", &confirmed("edge_uuid", &id)).is_some();
                let left = first.search(&word)["facts"].to_string().contains(&word);
                assert_eq!(left, !gone, "what is refused stays");
                gone
            }
            13 => {
                visitor.tool("clear", &json!({"confirmed_deletion_from_user": true}));
                let is_gone = !first.finds("Zanzibar");
                assert!(first.keep("My favourite bird is the Zanzibar heron."));
                is_gone
            }
            _ => unreachable!("there are no more questions"),
        }
    };
    let row = |(row, (what, _)): (usize, &(&'static str, &str))| {
        let letters = (0..visitors.len()).map(|at| if ask(at, row) { 'y' } else { 'n' });
        (*what, letters.collect())
    };
    EXPECTED.iter().enumerate().map(row).collect()
}

fn config() -> String {
    let (oracle, owner) = (Signer::new(ORACLE).did, Signer::new(VISITORS[2]).did);
    format!("{DOORS}[qiforge.oracles.\"{oracle}\"]\nowners = [\"{owner}\"]\n")
}

/// Lets the operator say what the oracle knows, to everybody and to its owners.
fn inform(server: &Server, scratch: &Path) {
    let loci = Loci::on_url(&server.url(), ADMIN_KEY);
    let oracle = Signer::new(ORACLE).did;
    for (name, text, private) in [
        ("prices.txt", "Tea costs four euros.", None),
        ("secret.txt", "The supplier of the tea is Marwick.", Some("--private")),
    ] {
        let file = scratch.join(name);
        fs::write(&file, text).unwrap();
        let mut args = vec!["ingest", "--oracle", &oracle];
        args.extend(private);
        args.push(file.to_str().unwrap());
        loci.ok(&args);
    }
}

fn compare(server: &Server, scratch: &Path) {
    inform(server, scratch);
    let expected: Vec<(&str, String)> =
        EXPECTED.iter().map(|(what, letters)| (*what, (*letters).to_owned())).collect();
    assert_eq!(asked(server), expected);
}

#[test]
fn visitors_meet_what_is_theirs() {
    let setup = super::open(Setup::new()).config(&config());
    compare(&setup.start(), setup.scratch());
}

#[test]
fn visitors_meet_what_is_theirs_on_postgresql() {
    let scratch = Setup::new();
    let cluster = Cluster::fresh().with(|setup| super::open(setup).config(&config()));
    compare(&cluster.start(), scratch.scratch());
}
