//! The calls the tests make over and over, as functions: stores, memories, versions, the feed.
//!
//! Each insists on a 200. A test that wants to see a refusal uses [`Client`] directly.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{Client, Reply};

/// The lower-case hex digest the contract uses for content.
pub fn sha256(content: &str) -> String {
    hex::encode(Sha256::digest(content.as_bytes()))
}

/// The `error.type` of an answer, or nothing if the answer is no error envelope.
pub fn error_type(reply: &Reply) -> Option<String> {
    let body: Value = serde_json::from_slice(&reply.body).ok()?;
    let is_envelope = body["type"] == "error"
        && body["error"]["message"].is_string()
        && body["request_id"].as_str() == reply.header("request-id");
    is_envelope.then(|| body["error"]["type"].as_str().map(str::to_owned))?
}

/// A memory as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub id: String,
    pub version: String,
    pub path: String,
    pub digest: String,
}

impl Memory {
    fn of(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().expect("a memory has this key").to_owned();
        Self {
            id: text("id"),
            version: text("memory_version_id"),
            path: text("path"),
            digest: text("content_sha256"),
        }
    }
}

/// One store, seen through a client.
#[derive(Debug)]
pub struct Api {
    pub client: Client,
    pub store: String,
}

impl Api {
    /// Makes a new store.
    #[track_caller]
    pub fn create(mut client: Client, name: &str) -> Self {
        let store = client.post("/v1/memory_stores", &json!({"name": name})).ok();
        let store = store["id"].as_str().expect("a store has an id").to_owned();
        Self { client, store }
    }

    /// A store that exists, through another client.
    pub fn open(client: Client, store: &str) -> Self {
        Self { client, store: store.to_owned() }
    }

    /// A path below the store.
    pub fn path(&self, rest: &str) -> String {
        format!("/v1/memory_stores/{}{rest}", self.store)
    }

    #[track_caller]
    pub fn put(&mut self, path: &str, content: &str) -> Memory {
        let url = self.path("/memories");
        Memory::of(&self.client.post(&url, &json!({"path": path, "content": content})).ok())
    }

    #[track_caller]
    pub fn update(&mut self, id: &str, change: &Value) -> Memory {
        let url = self.path(&format!("/memories/{id}"));
        Memory::of(&self.client.post(&url, change).ok())
    }

    #[track_caller]
    pub fn get(&mut self, id: &str) -> Reply {
        let url = self.path(&format!("/memories/{id}"));
        self.client.get(&url)
    }

    /// The content of a memory that must be there.
    #[track_caller]
    pub fn content(&mut self, id: &str) -> String {
        let memory = self.get(id).ok();
        memory["content"].as_str().expect("the full view has content").to_owned()
    }

    #[track_caller]
    pub fn delete(&mut self, id: &str) {
        let url = self.path(&format!("/memories/{id}"));
        self.client.delete(&url).ok();
    }

    #[track_caller]
    pub fn redact(&mut self, version: &str) -> Reply {
        let url = self.path(&format!("/memory_versions/{version}/redact"));
        self.client.call("POST", &url, None)
    }

    #[track_caller]
    pub fn erase(&mut self, id: &str) -> Reply {
        let url = self.path(&format!("/memories/{id}/erase"));
        self.client.call("POST", &url, None)
    }

    /// Every memory of the store, in listing order.
    #[track_caller]
    pub fn memories(&mut self) -> Vec<Memory> {
        self.pages("/memories", "limit=100").iter().map(Memory::of).collect()
    }

    /// Every version of one memory, newest first.
    #[track_caller]
    pub fn versions(&mut self, memory: &str) -> Vec<Value> {
        self.pages("/memory_versions", &format!("limit=100&memory_id={memory}"))
    }

    /// Every version of the store, newest first.
    #[track_caller]
    pub fn all_versions(&mut self) -> Vec<Value> {
        self.pages("/memory_versions", "limit=100")
    }

    /// Every item of a paged list.
    #[track_caller]
    pub fn pages(&mut self, what: &str, query: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut page = String::new();
        loop {
            let url = self.path(&format!("{what}?{query}{page}"));
            let body = self.client.get(&url).ok();
            items.extend(body["data"].as_array().expect("a page has data").iter().cloned());
            match body["next_page"].as_str() {
                Some(next) => {
                    let next = format!("&page={}", escaped(next));
                    assert!(next != page, "{what} does not move past {next}");
                    page = next;
                }
                None => return items,
            }
        }
    }

    /// The change feed after a sequence number, to its end.
    #[track_caller]
    pub fn changes(&mut self, after: u64) -> Vec<Value> {
        let mut changes: Vec<Value> = Vec::new();
        let mut last = after;
        loop {
            let url = self.path(&format!("/changes?after={last}&limit=100"));
            let body = self.client.get(&url).ok();
            let data = body["data"].as_array().expect("the feed has data");
            changes.extend(data.iter().cloned());
            if body["has_more"] != true {
                return changes;
            }
            let reached = data.last().and_then(|change| change["seq"].as_u64());
            let reached = reached.expect("a feed with more to come has a last change");
            assert!(reached > last, "the feed does not move past {last}");
            last = reached;
        }
    }
}

/// Percent-encodes everything but the plainest characters.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let one = |byte| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(one).collect()
}
