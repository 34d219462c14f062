//! The Kilroy door, where names lead to stores: what everybody gets of the platform's memory and of
//! their own. Its answers are always 200 with words inside, and a memory that is not theirs is to its
//! callers one that was never written.

use super::world::{Kind, Who, World};
use loci_it::{Client, Reply};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The routes that are asked here.
pub(super) const ROUTES: [&str; 2] = [
    "POST /api/v1/pd/webhook/{api_token}/{pd_alias}/{trigger_name}",
    "POST /api/v1/pd/webhook_sync/{api_token}/{pd_alias}/{trigger_name}",
];

/// What a caller is to the platform's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Search,
    Read,
    Write,
}

/// What a block takes.
#[derive(Clone, Copy)]
struct Verb {
    block: &'static str,
    needs: Level,
}

const VERBS: [Verb; 5] = [
    Verb { block: "memory_read", needs: Level::Read },
    Verb { block: "memory_search", needs: Level::Search },
    Verb { block: "memory_write", needs: Level::Write },
    Verb { block: "memory_append", needs: Level::Write },
    Verb { block: "memory_delete", needs: Level::Write },
];

/// `y` the platform's memory, `h` one's own, `n` neither, `u` unknown caller.
fn expected(who: Who, needs: Level, is_shared: bool) -> char {
    let who = who.base();
    let granted = match who {
        Who::Nobody => return 'u',
        // Neither has anywhere to go: a session has what is attached to it.
        Who::SwitchedOff | Who::SessionReading | Who::SessionWriting => return 'n',
        Who::Admin => return 'y',
        Who::Searcher => Some(Level::Search),
        Who::Reader => Some(Level::Read),
        Who::Writer => Some(Level::Write),
        _ => None,
    };
    let key = match who {
        Who::OwnersSearchKey => Level::Search,
        Who::OwnersReadKey => Level::Read,
        _ => Level::Write,
    };
    match granted.filter(|_| is_shared) {
        Some(level) if level >= needs => 'y',
        Some(_) => 'n',
        None if key >= needs => 'h',
        None => 'n',
    }
}

fn call(client: &mut Client, url: &str, block: &str, targs: &Value, text: &str) -> Reply {
    let body = json!({"targs": targs, "args": [{"text": text}], "sync": true});
    client.post(&format!("/api/v1/pd/{url}/API_TOKEN/kilroy.ai.webhooks/{block}"), &body)
}

fn payload(reply: &Reply) -> Value {
    let answer = reply.json();
    let text = answer["args"]["x"]["args"][0]["text"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// Asks every block of everybody, first for a memory that nobody else may use, then for one that the
/// platform has shared.
pub(super) fn ask(world: &World, matrix: &mut String) -> Vec<String> {
    let mut wrong = Vec::new();
    for (url, id, is_shared) in [
        ("webhook", "platform/first", false),
        ("webhook_sync", "platform/closed", false),
        ("webhook_sync", "platform/shared", true),
    ] {
        let mut platform = Platform::new(world, id, is_shared);
        for verb in VERBS {
            let name = format!("{} {}", verb.block, if is_shared { "shared" } else { url });
            let mut row = String::new();
            for who in Who::ALL {
                let mut client = world.client(who, Kind::Home).unwrap();
                let told = platform.letter(&mut client, url, verb.block);
                let should = expected(who, verb.needs, is_shared);
                if told != should {
                    wrong.push(format!("{name} {who:?}: {told}, should be {should}"));
                }
                row.push(told);
            }
            writeln!(matrix, "{name:<37} {row}").unwrap();
        }
    }
    wrong
}

/// The platform's memory of one name.
struct Platform {
    admin: Client,
    id: &'static str,
}

impl Platform {
    fn new(world: &World, id: &'static str, is_shared: bool) -> Self {
        let admin = world.client(Who::Admin, Kind::Home).unwrap();
        let mut platform = Self { admin, id };
        platform.write("tea of the platform");
        if is_shared {
            let stores = platform.admin.get("/v1/memory_stores?limit=100").ok();
            let is_it = |store: &&Value| store["name"] == format!("kilroy {id}");
            let store = stores["data"].as_array().unwrap().iter().find(is_it).unwrap();
            let url = format!("/v1/memory_stores/{}/grants", store["id"].as_str().unwrap());
            for (grantee, level) in [
                ("Searcher", "search"),
                ("Reader", "read"),
                ("Writer", "readwrite"),
                ("SwitchedOff", "readwrite"),
            ] {
                let grant = json!({"grantee": grantee, "level": level});
                platform.admin.post(&url, &grant).ok();
            }
        }
        platform
    }

    fn write(&mut self, text: &str) -> String {
        let targs = json!({"memory_id": self.id});
        let reply = call(&mut self.admin, "webhook_sync", "memory_write", &targs, text);
        payload(&reply)["guid"].as_str().unwrap().to_owned()
    }

    fn holds(&mut self, text: &str) -> bool {
        let targs = json!({"memory_id": self.id});
        let reply = call(&mut self.admin, "webhook_sync", "memory_read", &targs, "");
        payload(&reply).to_string().contains(text)
    }

    /// Whose memory an answer was about.
    fn letter(&mut self, client: &mut Client, url: &str, block: &str) -> char {
        let guid = self.write("something to work on");
        let mut targs = json!({"memory_id": self.id});
        let text = match block {
            "memory_search" => "platform",
            "memory_delete" => &guid,
            _ => "a text that is nowhere else",
        };
        if block == "memory_append" {
            targs["guid"] = json!(guid);
        }
        let reply = call(client, url, block, &targs, text);
        if reply.status == 401 {
            return 'u';
        }
        assert_eq!(reply.status, 200, "{}", reply.text());
        let answer = payload(&reply);
        let is_platforms = match block {
            _ if answer.get("error").is_some() => return 'n',
            "memory_read" | "memory_search" => answer.to_string().contains("tea of the platform"),
            "memory_write" => {
                let is_there = self.holds(text);
                if is_there {
                    let targs = json!({"memory_id": self.id, "guid": answer["guid"]});
                    call(&mut self.admin, "webhook_sync", "memory_delete", &targs, "");
                }
                is_there
            }
            "memory_append" => answer["appended"] == true,
            _ => answer["deleted"] == 1,
        };
        if is_platforms { 'y' } else { 'h' }
    }
}
