//! What is asked of no store in particular: lists, one's own home, administration. And the proof
//! that no route and no command of the tool was forgotten.

use super::verbs::VERBS;
use super::world::{Kind, Who, World};
use super::{documented, letter};
use crate::authz::spec::Manner;
use loci_it::{Client, Reply, mcp};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Who may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Anybody, without a credential.
    Anybody,
    /// Anybody with a credential, each about what is theirs.
    Known,
    /// Whoever may make stores and sessions.
    Maker,
    /// The same, but no model: what it was talked into must end with it.
    Manager,
    /// Anybody with a credential of their own.
    NoSession,
    /// Agents that share what is theirs, by a token as well; no model.
    Sharer,
    /// Whoever may make keys for themselves.
    KeyMaker,
    /// The same with a key that does not end: a link would outlive one that does.
    LinkMaker,
    /// Whoever may read in their own home.
    HomeReader,
    /// Whoever may search in their own home.
    HomeSearcher,
    /// Whoever may write in their own home.
    HomeWriter,
    /// Administrators.
    Admin,
    /// Visitors with tokens of their own making; nobody whom this server gave a credential.
    Visitor,
}

fn expected(who: Who, open: Open) -> char {
    // A token reads and writes, and neither manages nor makes credentials.
    let is_token = matches!(who, Who::WritersToken | Who::CompanionsToken);
    if is_token && matches!(open, Open::Manager | Open::KeyMaker | Open::LinkMaker) {
        return 'n';
    }
    if who == Who::OwnersConsoleKey && open == Open::LinkMaker {
        return 'n';
    }
    let who = who.base();
    if who == Who::Nobody {
        return if open == Open::Anybody { 'y' } else { 'u' };
    }
    if open == Open::Visitor {
        return 'u';
    }
    let is_session = matches!(who, Who::SessionReading | Who::SessionWriting);
    let may = match open {
        Open::Anybody | Open::Known => true,
        Open::Visitor => false,
        Open::Admin => who == Who::Admin,
        Open::Maker => {
            !is_session
                && !matches!(who, Who::OwnersReadKey | Who::OwnersSearchKey | Who::SwitchedOff)
        }
        Open::Manager | Open::Sharer => {
            expected(who, Open::Maker) == 'y' && who != Who::OwnersModel
        }
        Open::NoSession => !is_session,
        Open::KeyMaker | Open::LinkMaker => {
            let is_narrow = matches!(who, Who::OwnersReadKey | Who::OwnersSearchKey);
            !is_session && !is_narrow && who != Who::OwnersModel
        }
        Open::HomeSearcher => who != Who::SwitchedOff,
        // A session has what is attached to it and no home.
        Open::HomeReader => !is_session && !matches!(who, Who::SwitchedOff | Who::OwnersSearchKey),
        Open::HomeWriter => {
            let is_narrow = matches!(who, Who::OwnersSearchKey | Who::OwnersReadKey);
            !is_session && !is_narrow && who != Who::SwitchedOff
        }
    };
    if may { 'y' } else { 'n' }
}

pub(super) struct General {
    pub(super) name: &'static str,
    pub(super) route: &'static str,
    open: Open,
    manner: Manner,
    pub(super) ask: fn(&mut Client) -> Reply,
}

const fn native(
    name: &'static str,
    route: &'static str,
    open: Open,
    ask: fn(&mut Client) -> Reply,
) -> General {
    General { name, route, open, manner: Manner::Native, ask }
}

const fn robutler(
    name: &'static str,
    route: &'static str,
    open: Open,
    ask: fn(&mut Client) -> Reply,
) -> General {
    General { name, route, open, manner: Manner::Robutler, ask }
}

const fn tool(name: &'static str, open: Open, ask: fn(&mut Client) -> Reply) -> General {
    General { name, route: "POST /v1/tools/memory", open, manner: Manner::Tool, ask }
}

/// A name that no other request has used.
fn fresh(what: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn execute(client: &mut Client, input: &Value) -> Reply {
    client.post("/v1/tools/memory", input)
}

/// Makes a file of one's own first, where one may.
fn with_file(client: &mut Client, then: fn(&mut Client, &str) -> Reply) -> Reply {
    let path = format!("/memories/{}", fresh("file"));
    execute(client, &json!({"command": "create", "path": path, "file_text": "tea\n"}));
    then(client, &path)
}

/// The same with an entry.
fn with_entry(client: &mut Client, then: fn(&mut Client, &str) -> Reply) -> Reply {
    let key = fresh("entry");
    client.call("PUT", &format!("/api/storage/memory/{key}"), Some(&json!({"value": "tea"})));
    then(client, &key)
}

/// Makes a session of one's own first, with a store of one's own attached.
fn with_session(client: &mut Client, then: fn(&mut Client, &str) -> Reply) -> Reply {
    let made = client.post("/v1/memory_stores", &json!({"name": fresh("store")}));
    if made.status != 200 {
        return made;
    }
    let attached = json!({"type": "memory_store", "memory_store_id": made.json()["id"]});
    let wanted = json!({"agent": "agent_1", "environment_id": "env_1", "resources": [attached]});
    let made = client.post("/v1/sessions", &wanted);
    match made.status {
        200 => then(client, &format!("/v1/sessions/{}", made.json()["id"].as_str().unwrap())),
        _ => made,
    }
}

/// A request about something that is not there: whoever gets as far as 404 was let through.
fn reached(reply: Reply) -> Reply {
    if reply.status == 404 { Reply { status: 200, ..reply } } else { reply }
}

pub(super) const GENERAL: &[General] = &[
    native("agents", "GET /v1/agents", Open::Known, |client| {
        client.as_another(|client| client.get("/v1/agents"))
    }),
    native("make agent", "POST /v1/agents", Open::Admin, |client| {
        client.as_another(|client| client.post("/v1/agents", &json!({"name": fresh("agent")})))
    }),
    native("managed agent", "POST /v1/agents", Open::HomeWriter, |client| {
        client.post("/v1/agents", &json!({"name": "helper", "model": "claude"}))
    }),
    native("project's agents", "GET /v1/projects/{project}/agents", Open::Known, |client| {
        client.get("/v1/projects/default/agents")
    }),
    native("make agent in", "POST /v1/projects/{project}/agents", Open::Admin, |client| {
        client.post("/v1/projects/other/agents", &json!({"name": fresh("agent")}))
    }),
    native("alive", "GET /healthz", Open::Anybody, |client| client.get("/healthz")),
    native("ready", "GET /readyz", Open::Anybody, |client| client.get("/readyz")),
    native("metrics", "GET /metrics", Open::Anybody, |client| client.get("/metrics")),
    native("document", "GET /openapi.json", Open::Anybody, |client| client.get("/openapi.json")),
    native("did", "GET /.well-known/did.json", Open::Anybody, |client| {
        client.get("/.well-known/did.json")
    }),
    native("qiforge messages", "POST /qiforge/messages", Open::Visitor, |client| {
        client.post("/qiforge/messages", &json!({"messages": []}))
    }),
    native("qiforge batch", "POST /qiforge/search-enhanced-batch", Open::Visitor, |client| {
        client.post("/qiforge/search-enhanced-batch", &json!({"queries": []}))
    }),
    native("qiforge mcp", "POST /qiforge/mcp", Open::Visitor, |client| {
        client.post("/qiforge/mcp", &mcp::request("tools/list", &json!({})))
    }),
    native("oracle's store", "POST /v1/oracle_knowledge", Open::Admin, |client| {
        client.post("/v1/oracle_knowledge", &json!({"oracle": "did:ixo:ixo1oracle"}))
    }),
    native("mcp tools", "POST /mcp", Open::Known, |client| {
        mcp::post(client, &mcp::request("tools/list", &json!({})), &[])
    }),
    native(
        "mcp resource server",
        "GET /.well-known/oauth-protected-resource",
        Open::Anybody,
        |client| client.get("/.well-known/oauth-protected-resource"),
    ),
    native("stores", "GET /v1/memory_stores", Open::Known, |client| {
        client.get("/v1/memory_stores")
    }),
    native("make store", "POST /v1/memory_stores", Open::Maker, |client| {
        client.post("/v1/memory_stores", &json!({"name": fresh("store")}))
    }),
    native(
        "archive",
        "POST /v1/memory_stores/{memory_store_id}/archive",
        Open::Manager,
        |client| {
            let made = client.post("/v1/memory_stores", &json!({"name": fresh("store")}));
            match made.status {
                200 => {
                    let id = made.json()["id"].as_str().unwrap().to_owned();
                    client.call("POST", &format!("/v1/memory_stores/{id}/archive"), None)
                }
                _ => made,
            }
        },
    ),
    native("remove store", "DELETE /v1/memory_stores/{memory_store_id}", Open::Manager, |client| {
        let made = client.post("/v1/memory_stores", &json!({"name": fresh("store")}));
        match made.status {
            200 => {
                let id = made.json()["id"].as_str().unwrap().to_owned();
                client.delete(&format!("/v1/memory_stores/{id}"))
            }
            _ => made,
        }
    }),
    native(
        "revoke",
        "DELETE /v1/memory_stores/{memory_store_id}/grants/{grant_id}",
        Open::Sharer,
        |client| {
            let made = client.post("/v1/memory_stores", &json!({"name": fresh("store")}));
            if made.status != 200 {
                return made;
            }
            let grants =
                format!("/v1/memory_stores/{}/grants", made.json()["id"].as_str().unwrap());
            let given = client.post(&grants, &json!({"grantee": "everyone", "level": "read"}));
            match given.status {
                200 => {
                    let id = given.json()["id"].as_str().unwrap().to_owned();
                    client.delete(&format!("{grants}/{id}"))
                }
                _ => given,
            }
        },
    ),
    native("search", "POST /v1/search", Open::Known, |client| {
        client.post("/v1/search", &json!({"query": "tea"}))
    }),
    native("ask", "POST /v1/knowledge", Open::Known, |client| {
        client.post("/v1/knowledge", &json!({"query": "tea"}))
    }),
    native("context", "GET /v1/context", Open::Known, |client| client.get("/v1/context")),
    native("sessions", "GET /v1/sessions", Open::NoSession, |client| client.get("/v1/sessions")),
    native("make session", "POST /v1/sessions", Open::Maker, |client| {
        client.post("/v1/sessions", &json!({"agent": "agent_1", "environment_id": "env_1"}))
    }),
    native("session", "GET /v1/sessions/{session_id}", Open::Maker, |client| {
        with_session(client, |client, session| client.get(session))
    }),
    native("retitle session", "POST /v1/sessions/{session_id}", Open::Maker, |client| {
        with_session(client, |client, session| client.post(session, &json!({"title": "new"})))
    }),
    native("remove session", "DELETE /v1/sessions/{session_id}", Open::Maker, |client| {
        with_session(client, |client, session| client.delete(session))
    }),
    native("archive session", "POST /v1/sessions/{session_id}/archive", Open::Maker, |client| {
        with_session(client, |client, session| {
            client.call("POST", &format!("{session}/archive"), None)
        })
    }),
    native("note of session", "GET /v1/sessions/{session_id}/note", Open::Maker, |client| {
        with_session(client, |client, session| client.get(&format!("{session}/note")))
    }),
    native("resources", "GET /v1/sessions/{session_id}/resources", Open::Maker, |client| {
        with_session(client, |client, session| client.get(&format!("{session}/resources")))
    }),
    native(
        "resource",
        "GET /v1/sessions/{session_id}/resources/{resource_id}",
        Open::Maker,
        |client| {
            with_session(client, |client, session| {
                reached(client.get(&format!("{session}/resources/none")))
            })
        },
    ),
    native(
        "rotate resource",
        "POST /v1/sessions/{session_id}/resources/{resource_id}",
        Open::Maker,
        |client| {
            with_session(client, |client, session| {
                let body = json!({"authorization_token": "t"});
                reached(client.post(&format!("{session}/resources/none"), &body))
            })
        },
    ),
    native(
        "remove resource",
        "DELETE /v1/sessions/{session_id}/resources/{resource_id}",
        Open::Maker,
        |client| {
            with_session(client, |client, session| {
                reached(client.delete(&format!("{session}/resources/none")))
            })
        },
    ),
    native("attach", "POST /v1/sessions/{session_id}/resources", Open::Maker, |client| {
        with_session(client, |client, session| {
            // What is attached is settled when the session is made; whoever is told so got in.
            let reply = client.post(&format!("{session}/resources"), &json!({}));
            if reply.status == 400 { Reply { status: 200, ..reply } } else { reply }
        })
    }),
    native("make environment", "POST /v1/environments", Open::HomeWriter, |client| {
        client.post("/v1/environments", &json!({"name": "cloud"}))
    }),
    native("environment", "GET /v1/environments/{environment_id}", Open::Known, |client| {
        reached(client.get("/v1/environments/env_010000000000000000000001"))
    }),
    native("define tool", "GET /v1/tools/memory", Open::Known, |client| {
        client.get("/v1/tools/memory")
    }),
    native("make key", "POST /v1/api_keys", Open::KeyMaker, |client| {
        client.post("/v1/api_keys", &json!({"name": fresh("key")}))
    }),
    native("keys", "GET /v1/api_keys", Open::Admin, |client| client.get("/v1/api_keys")),
    native("revoke key", "DELETE /v1/api_keys/{api_key_id}", Open::Admin, |client| {
        reached(client.delete("/v1/api_keys/apikey_010000000000000000000001"))
    }),
    native("principals", "GET /v1/principals", Open::Admin, |client| client.get("/v1/principals")),
    native("make principal", "POST /v1/principals", Open::Admin, |client| {
        client.post("/v1/principals", &json!({"name": fresh("principal")}))
    }),
    native("switches", "GET /v1/principals/{principal}/memory", Open::Admin, |client| {
        client.get("/v1/principals/owner-of-open/memory")
    }),
    native("switch", "POST /v1/principals/{principal}/memory", Open::Admin, |client| {
        client.post("/v1/principals/owner-of-open/memory", &json!({"enabled": true}))
    }),
    native("chats", "GET /v1/chats", Open::Admin, |client| client.get("/v1/chats")),
    native("chat", "GET /v1/chats/{chat}", Open::Admin, |client| client.get("/v1/chats/the-chat")),
    native("join", "PUT /v1/chats/{chat}/members/{member}", Open::Admin, |client| {
        client.call("PUT", "/v1/chats/another/members/Stranger", None)
    }),
    native("leave", "DELETE /v1/chats/{chat}/members/{member}", Open::Admin, |client| {
        reached(client.delete("/v1/chats/another/members/Nobody-is-there"))
    }),
    native("events", "GET /v1/events", Open::Admin, |client| client.get("/v1/events")),
    native("embedding", "GET /v1/embedding", Open::Admin, |client| client.get("/v1/embedding")),
    native("reembed", "POST /v1/embedding/reembed", Open::Admin, |client| {
        client.call("POST", "/v1/embedding/reembed", None)
    }),
    native("extraction", "GET /v1/extraction", Open::Admin, |client| client.get("/v1/extraction")),
    native("forget reader", "POST /v1/extraction/forget", Open::Admin, |client| {
        client.post("/v1/extraction/forget", &json!({"reader": "nobody"}))
    }),
    // What is shown there is looked at and nothing else: here it is no key.
    native("sign in", "POST /console/login", Open::Visitor, |client| {
        let page = [("x-loci-console", "1")];
        client.call_with("POST", "/console/login", Some(&json!({"key": "none"})), &page)
    }),
    native("sign out", "POST /console/logout", Open::Known, |client| {
        client.call("POST", "/console/logout", None)
    }),
    native("signed in", "GET /console/session", Open::Known, |client| {
        client.get("/console/session")
    }),
    native("link", "POST /console/links", Open::LinkMaker, |client| {
        client.call("POST", "/console/links", None)
    }),
    // A stream of a store that is not there, because one that is has no end.
    native("stream", "GET /console/events", Open::Known, |client| {
        reached(client.get("/console/events?store=none"))
    }),
    native("stores at a glance", "GET /console/stores", Open::Known, |client| {
        client.get("/console/stores")
    }),
    native("series", "GET /console/series", Open::Known, |client| client.get("/console/series")),
    native("names", "GET /console/names", Open::Known, |client| {
        client.get("/console/names?ids=none")
    }),
    native("whoami", "GET /v1/whoami", Open::Known, |client| client.get("/v1/whoami")),
    native("stats", "GET /v1/stats", Open::Known, |client| client.get("/v1/stats")),
    native("check", "POST /v1/check", Open::Admin, |client| client.call("POST", "/v1/check", None)),
    native("export", "GET /v1/export", Open::Admin, |client| client.get("/v1/export")),
    native("import", "POST /v1/import", Open::Admin, |client| {
        client
            .send("POST", "/v1/import", Some(b"{\"type\":\"loci_export\",\"format\":3}"), &[])
            .unwrap()
    }),
    native("backup", "GET /v1/backup", Open::Admin, |client| client.get("/v1/backup")),
    robutler("own stores", "GET /api/storage/memory", Open::HomeSearcher, |client| {
        client.get("/api/storage/memory?action=stores")
    }),
    robutler("own list", "GET /api/storage/memory", Open::HomeReader, |client| {
        client.get("/api/storage/memory")
    }),
    robutler("nameless write", "PUT /api/storage/memory", Open::Known, |client| {
        // There is no entry without a key; whoever is told so got in.
        let reply = client.call("PUT", "/api/storage/memory", Some(&json!({"value": 1})));
        if reply.status == 400 { Reply { status: 200, ..reply } } else { reply }
    }),
    robutler("own write", "PUT /api/storage/memory/{key}", Open::HomeWriter, |client| {
        let url = format!("/api/storage/memory/{}", fresh("key"));
        client.call("PUT", &url, Some(&json!({"value": 1})))
    }),
    robutler("kv list", "GET /api/storage/kv", Open::HomeReader, |client| {
        client.get("/api/storage/kv")
    }),
    robutler("kv read", "GET /api/storage/kv/{key}", Open::HomeReader, |client| {
        with_entry(client, |client, key| reached(client.get(&format!("/api/storage/kv/{key}"))))
    }),
    robutler("kv write", "PUT /api/storage/kv/{key}", Open::HomeWriter, |client| {
        let url = format!("/api/storage/kv/{}", fresh("key"));
        client.call("PUT", &url, Some(&json!({"value": 1})))
    }),
    robutler("kv delete", "DELETE /api/storage/kv/{key}", Open::HomeWriter, |client| {
        with_entry(client, |client, key| client.delete(&format!("/api/storage/kv/{key}")))
    }),
    robutler("old kv get", "GET /api/kv", Open::HomeReader, |client| {
        with_entry(client, |client, key| reached(client.get(&format!("/api/kv?key={key}"))))
    }),
    robutler("old kv set", "POST /api/kv", Open::HomeWriter, |client| {
        client.post("/api/kv", &json!({"key": fresh("key"), "value": "tea"}))
    }),
    robutler("old kv delete", "DELETE /api/kv", Open::HomeWriter, |client| {
        with_entry(client, |client, key| client.delete(&format!("/api/kv?key={key}")))
    }),
    robutler("scoped list", "GET /api/storage/memory-scoped", Open::HomeReader, |client| {
        client.get("/api/storage/memory-scoped?action=list")
    }),
    robutler("scoped put", "PUT /api/storage/memory-scoped", Open::HomeWriter, |client| {
        let body = json!({
            "namespace": "owner", "key": fresh("key"), "content": "tea", "source": "tool",
            "at": null,
        });
        client.call("PUT", "/api/storage/memory-scoped", Some(&body))
    }),
    robutler("scoped forget", "DELETE /api/storage/memory-scoped", Open::HomeWriter, |client| {
        client.delete("/api/storage/memory-scoped?namespace=owner&key=none")
    }),
    robutler("scoped push", "POST /api/storage/memory-scoped", Open::HomeWriter, |client| {
        let body = json!({"namespace": "owner", "lines": []});
        client.post("/api/storage/memory-scoped?action=sync", &body)
    }),
    tool("tool create file", Open::HomeWriter, |client| {
        let path = format!("/memories/{}", fresh("file"));
        execute(client, &json!({"command": "create", "path": path, "file_text": "tea"}))
    }),
    tool("tool view files", Open::HomeReader, |client| {
        execute(client, &json!({"command": "view", "path": "/memories"}))
    }),
    tool("tool str_replace", Open::HomeWriter, |client| {
        with_file(client, |client, path| {
            let input = json!({"command": "str_replace", "path": path, "old_str": "tea", "new_str": "milk"});
            execute(client, &input)
        })
    }),
    tool("tool insert", Open::HomeWriter, |client| {
        with_file(client, |client, path| {
            let input =
                json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "a"});
            execute(client, &input)
        })
    }),
    tool("tool delete file", Open::HomeWriter, |client| {
        with_file(client, |client, path| {
            execute(client, &json!({"command": "delete", "path": path}))
        })
    }),
    tool("tool rename file", Open::HomeWriter, |client| {
        with_file(client, |client, path| {
            let to = format!("{path}-renamed");
            let input = json!({"command": "rename", "old_path": path, "new_path": to});
            execute(client, &input)
        })
    }),
    tool("tool stores", Open::HomeSearcher, |client| {
        execute(client, &json!({"command": "stores"}))
    }),
];

/// Asks everything, adds it to the matrix, and makes sure that nothing was left out.
pub(super) fn ask(world: &World, matrix: &mut String) -> Vec<String> {
    let mut wrong = Vec::new();
    for general in GENERAL {
        let mut row = String::new();
        for who in Who::ALL {
            let mut client = world.client(who, Kind::Home).unwrap();
            let reply = (general.ask)(&mut client);
            let told = letter(&reply, general.manner);
            let should = expected(who, general.open);
            if told != should {
                let said = format!("{} {who:?}: {told}, should be {should}", general.name);
                let said = format!("{said}: {}", reply.text());
                wrong.push(said.chars().take(300).collect());
            }
            row.push(told);
        }
        writeln!(matrix, "{:<37} {row}", general.name).unwrap();
    }
    wrong
}

/// Every route and every command of the tool is in the matrix.
pub(super) fn forgotten(client: &mut Client) -> Vec<String> {
    let asked: BTreeSet<&str> = VERBS
        .iter()
        .chain(super::knowledge::VERBS)
        .chain(super::console::VERBS)
        .chain(super::mcp::VERBS)
        .map(|verb| verb.route)
        .chain(GENERAL.iter().map(|general| general.route))
        .chain(super::kilroy::ROUTES)
        .collect();
    let document = client.get("/openapi.json").ok();
    let routes = documented(&document).into_iter().filter(|route| !asked.contains(route.as_str()));
    let said: String = VERBS
        .iter()
        .map(|verb| verb.name)
        .chain(GENERAL.iter().map(|one| one.name))
        .collect::<Vec<_>>()
        .join("\n");
    let mut commands = commands(&client.get("/v1/tools/memory").ok());
    assert_eq!(commands.len(), 9, "the definitions name commands: {commands:?}");
    // The other tool is known by its type and declares none.
    let native = ["view", "create", "str_replace", "insert", "delete", "rename"];
    commands.extend(native.map(str::to_owned));
    let unsaid = commands.into_iter().filter(|command| !said.contains(&format!("tool {command}")));
    routes.chain(unsaid).collect()
}

/// Every command that a definition of the tool names.
fn commands(definitions: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = vec![definitions];
    while let Some(value) = rest.pop() {
        if let Some(names) = value.pointer("/command/enum").and_then(Value::as_array) {
            found.extend(names.iter().filter_map(|name| name.as_str().map(str::to_owned)));
        }
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            _ => {}
        }
    }
    found
}
