//! Everything one can ask about a store and its memories, at every door. Each verb is one request
//! about one memory that is there for it alone.

use super::doors::{mobius, robutler, tool};
use super::spec::{Manner, Need};
use super::world::{State, Target};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_it::{Client, Reply};
use serde_json::{Value, json};

/// One thing to ask.
#[derive(Clone, Copy)]
pub(super) struct Verb {
    /// Its name in the matrix.
    pub(super) name: &'static str,
    /// The route, as the document names it.
    pub(super) route: &'static str,
    pub(super) manner: Manner,
    pub(super) need: Need,
    /// Whether the request says that it is about another user than whose store it is.
    pub(super) is_elsewhere: bool,
    /// Memories it is asked about.
    pub(super) states: &'static [State],
    pub(super) ask: fn(&mut Client, &Target) -> Reply,
}

pub(super) const PLAIN: &[State] = &[State::Plain];
const SEALED: &[State] = &[State::Sealed];
const SAVED: &[State] = &[State::Plain, State::Others];
pub(super) const EVERY: &[State] = &State::ALL;

pub(super) const fn native(
    name: &'static str,
    route: &'static str,
    need: Need,
    states: &'static [State],
    ask: fn(&mut Client, &Target) -> Reply,
) -> Verb {
    Verb { name, route, manner: Manner::Native, need, is_elsewhere: false, states, ask }
}

/// An agent without projects, and in the project that everybody has.
fn agent(target: &Target, rest: &str) -> String {
    format!("/v1/agents/{}{rest}", target.whose)
}

fn project(target: &Target, rest: &str) -> String {
    format!("/v1/projects/default/agents/{}{rest}", target.whose)
}

fn saved(target: &Target) -> String {
    format!("/memory/entries/{}", target.key)
}

/// Makes an entry of a user first, where one may.
fn promote(client: &mut Client, target: &Target) -> Reply {
    let url = agent(target, &saved(target));
    let made = client.call("PUT", &url, Some(&json!({"content": "tea", "user_id": "ada"})));
    match made.status {
        200 | 201 => {
            let wanted = json!({"user_id": "ada", "replace": true});
            client.post(&format!("{url}/promotion"), &wanted)
        }
        _ => made,
    }
}

pub(super) fn store(target: &Target, rest: &str) -> String {
    format!("/v1/memory_stores/{}{rest}", target.store)
}

fn memory(target: &Target, rest: &str) -> String {
    store(target, &format!("/memories/{}{rest}", target.memory))
}

pub(super) fn entry(target: &Target) -> String {
    format!("/api/storage/memory/{}?store={}", target.key, target.whose)
}

pub(super) fn execute(client: &mut Client, mut input: Value, target: &Target) -> Reply {
    input["store"] = json!(target.whose);
    client.post("/v1/tools/memory", &input)
}

pub(super) const VERBS: &[Verb] = &[
    native("store", "GET /v1/memory_stores/{memory_store_id}", Need::Read, PLAIN, |client, at| {
        client.get(&store(at, ""))
    }),
    native(
        "describe",
        "POST /v1/memory_stores/{memory_store_id}",
        Need::Alter,
        PLAIN,
        |client, at| client.post(&store(at, ""), &json!({"metadata": {"a": "b"}})),
    ),
    native(
        "create",
        "POST /v1/memory_stores/{memory_store_id}/memories",
        Need::Create,
        PLAIN,
        |client, at| {
            let new = json!({"path": format!("/new/{}", at.key), "content": "tea"});
            client.post(&store(at, "/memories"), &new)
        },
    ),
    native(
        "list",
        "GET /v1/memory_stores/{memory_store_id}/memories",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/memories")),
    ),
    native(
        "get",
        "GET /v1/memory_stores/{memory_store_id}/memories/{memory_id}",
        Need::ReadOne,
        EVERY,
        |client, at| client.get(&memory(at, "")),
    ),
    native(
        "get by path",
        "GET /v1/memory_stores/{memory_store_id}/memory_by_path",
        Need::ReadOne,
        PLAIN,
        |client, at| client.get(&store(at, &format!("/memory_by_path?path=/{}", at.key))),
    ),
    native(
        "update",
        "POST /v1/memory_stores/{memory_store_id}/memories/{memory_id}",
        Need::Describe,
        EVERY,
        |client, at| client.post(&memory(at, ""), &json!({"content": "more tea"})),
    ),
    native(
        "move",
        "PATCH /v1/memory_stores/{memory_store_id}/memories/{memory_id}",
        Need::Move,
        EVERY,
        |client, at| {
            let to = json!({"path": format!("/moved/{}", at.key)});
            client.call("PATCH", &memory(at, ""), Some(&to))
        },
    ),
    native(
        "remove",
        "DELETE /v1/memory_stores/{memory_store_id}/memories/{memory_id}",
        Need::Remove,
        EVERY,
        |client, at| client.delete(&memory(at, "")),
    ),
    native(
        "compact",
        "POST /v1/memory_stores/{memory_store_id}/compact",
        Need::Alter,
        PLAIN,
        |client, at| {
            let wanted = json!({"max_memories": 0, "dry_run": true});
            client.post(&store(at, "/compact"), &wanted)
        },
    ),
    native(
        "undo compaction",
        "POST /v1/memory_stores/{memory_store_id}/memories/{memory_id}/undo_compaction",
        Need::Alter,
        PLAIN,
        |client, at| client.call("POST", &memory(at, "/undo_compaction"), None),
    ),
    native(
        "brief",
        "GET /v1/memory_stores/{memory_store_id}/brief",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/brief")),
    ),
    native(
        "versions",
        "GET /v1/memory_stores/{memory_store_id}/memory_versions",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/memory_versions")),
    ),
    native(
        "version",
        "GET /v1/memory_stores/{memory_store_id}/memory_versions/{memory_version_id}",
        Need::ReadOne,
        PLAIN,
        |client, at| client.get(&store(at, &format!("/memory_versions/{}", at.version))),
    ),
    native(
        "redact",
        "POST /v1/memory_stores/{memory_store_id}/memory_versions/{memory_version_id}/redact",
        Need::Manage,
        PLAIN,
        |client, at| {
            let url = store(at, &format!("/memory_versions/{}/redact", at.version));
            client.call("POST", &url, None)
        },
    ),
    native(
        "erase",
        "POST /v1/memory_stores/{memory_store_id}/memories/{memory_id}/erase",
        Need::Manage,
        PLAIN,
        |client, at| client.call("POST", &memory(at, "/erase"), None),
    ),
    native(
        "attributes",
        "GET /v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
        Need::ReadOne,
        EVERY,
        |client, at| client.get(&memory(at, "/attributes")),
    ),
    native(
        "tag",
        "POST /v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
        Need::Describe,
        EVERY,
        |client, at| client.post(&memory(at, "/attributes"), &json!({"tags": ["a"]})),
    ),
    native(
        "tag by patch",
        "PATCH /v1/memory_stores/{memory_store_id}/memories/{memory_id}/attributes",
        Need::Describe,
        PLAIN,
        |client, at| {
            let tags = json!({"tags": ["a"]});
            client.call("PATCH", &memory(at, "/attributes"), Some(&tags))
        },
    ),
    native(
        "seal",
        "POST /v1/memory_stores/{memory_store_id}/sealed",
        Need::Create,
        PLAIN,
        |client, at| {
            let path = format!("/sealed/{}", at.key);
            let body = json!({"path": path, "sealed_base64": BASE64.encode("closed")});
            client.post(&store(at, "/sealed"), &body)
        },
    ),
    native(
        "sealed",
        "GET /v1/memory_stores/{memory_store_id}/memories/{memory_id}/sealed",
        Need::ReadOne,
        SEALED,
        |client, at| client.get(&memory(at, "/sealed")),
    ),
    native(
        "changes",
        "GET /v1/memory_stores/{memory_store_id}/changes",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/changes")),
    ),
    native(
        "entries",
        "GET /v1/memory_stores/{memory_store_id}/entries",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/entries")),
    ),
    native(
        "entry",
        "GET /v1/memory_stores/{memory_store_id}/entries/{memory_id}",
        Need::ReadOne,
        PLAIN,
        |client, at| client.get(&store(at, &format!("/entries/{}", at.memory))),
    ),
    native(
        "edits",
        "POST /v1/memory_stores/{memory_store_id}/edits",
        Need::Create,
        PLAIN,
        |client, at| {
            let edit = json!({"op": "put", "path": format!("/edits/{}", at.key), "content": "tea"});
            client.post(&store(at, "/edits"), &json!({"edits": [edit]}))
        },
    ),
    native(
        "search",
        "POST /v1/memory_stores/{memory_store_id}/search",
        Need::Search,
        PLAIN,
        |client, at| client.post(&store(at, "/search"), &json!({"query": "tea"})),
    ),
    native(
        "duplicates",
        "GET /v1/memory_stores/{memory_store_id}/duplicates",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/duplicates")),
    ),
    native(
        "policy",
        "GET /v1/memory_stores/{memory_store_id}/policy",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/policy")),
    ),
    native(
        "change policy",
        "POST /v1/memory_stores/{memory_store_id}/policy",
        Need::Alter,
        PLAIN,
        |client, at| client.post(&store(at, "/policy"), &json!({"repeats": "allow"})),
    ),
    native(
        "stats",
        "GET /v1/memory_stores/{memory_store_id}/stats",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/stats")),
    ),
    native(
        "grants",
        "GET /v1/memory_stores/{memory_store_id}/grants",
        Need::Share,
        PLAIN,
        |client, at| client.get(&store(at, "/grants")),
    ),
    native(
        "share",
        "POST /v1/memory_stores/{memory_store_id}/grants",
        Need::Share,
        PLAIN,
        |client, at| {
            let grant = json!({"grantee": at.grantee, "level": "read"});
            client.post(&store(at, "/grants"), &grant)
        },
    ),
    robutler(
        "robutler read",
        "GET /api/storage/memory/{key}",
        Need::ReadOne,
        EVERY,
        |client, at| client.get(&entry(at)),
    ),
    robutler("robutler list", "GET /api/storage/memory", Need::Read, PLAIN, |client, at| {
        client.get(&format!("/api/storage/memory?store={}&inContext=true", at.whose))
    }),
    robutler(
        "robutler write",
        "PUT /api/storage/memory/{key}",
        Need::Upsert,
        PLAIN,
        |client, at| {
            let body = json!({"store": at.whose, "value": {"cups": 2}, "ttl": null});
            client.call("PUT", &format!("/api/storage/memory/{}", at.key), Some(&body))
        },
    ),
    robutler(
        "robutler delete",
        "DELETE /api/storage/memory/{key}",
        Need::RemoveOwn,
        EVERY,
        |client, at| client.delete(&entry(at)),
    ),
    robutler("robutler search", "GET /api/storage/memory", Need::Search, PLAIN, |client, at| {
        client.get(&format!("/api/storage/memory?action=search&q=tea&store={}", at.whose))
    }),
    robutler("robutler share", "POST /api/storage/memory", Need::Share, PLAIN, |client, at| {
        let body = json!({"store": at.whose, "grantee": at.grantee, "level": null});
        client.post("/api/storage/memory?action=share", &body)
    }),
    robutler("robutler unshare", "DELETE /api/storage/memory", Need::Share, PLAIN, |client, at| {
        let query = format!("action=share&store={}&grantee={}", at.whose, at.grantee);
        client.delete(&format!("/api/storage/memory?{query}"))
    }),
    tool("tool view", Need::ReadText, EVERY, |client, at| {
        execute(client, json!({"command": "view", "key": at.key}), at)
    }),
    tool("tool create", Need::Upsert, PLAIN, |client, at| {
        execute(client, json!({"command": "create", "key": at.key, "content": "more"}), at)
    }),
    tool("tool edit", Need::Edit, EVERY, |client, at| {
        let edit = json!({"command": "edit", "key": at.key, "old_str": "tea", "new_str": "milk"});
        execute(client, edit, at)
    }),
    tool("tool delete", Need::Remove, EVERY, |client, at| {
        execute(client, json!({"command": "delete", "key": at.key}), at)
    }),
    tool("tool rename", Need::Move, EVERY, |client, at| {
        let to = format!("/memories/shared/{}/renamed-{}", at.whose, at.key);
        let from = format!("/memories/shared/{}/{}", at.whose, at.key);
        let input = json!({"command": "rename", "path": from, "new_str": to});
        client.post("/v1/tools/memory", &input)
    }),
    tool("tool search", Need::Search, PLAIN, |client, at| {
        execute(client, json!({"command": "search", "query": "tea"}), at)
    }),
    tool("tool share", Need::Share, PLAIN, |client, at| {
        let input = json!({"command": "share", "agent": at.grantee, "level": "read"});
        execute(client, input, at)
    }),
    tool("tool unshare", Need::Share, PLAIN, |client, at| {
        execute(client, json!({"command": "unshare", "agent": at.grantee}), at)
    }),
    mobius("mobius agent", "GET /v1/agents/{agent}", Need::Read, PLAIN, |client, at| {
        client.as_another(|client| client.get(&agent(at, "")))
    }),
    mobius("mobius alter", "PATCH /v1/agents/{agent}", Need::Alter, PLAIN, |client, at| {
        let wanted = json!({"memory_context": {"mode": "full"}});
        client.as_another(|client| client.call("PATCH", &agent(at, ""), Some(&wanted)))
    }),
    mobius("mobius count", "GET /v1/agents/{agent}/memory", Need::Read, PLAIN, |client, at| {
        client.get(&agent(at, "/memory"))
    }),
    mobius(
        "mobius list",
        "GET /v1/agents/{agent}/memory/entries",
        Need::Read,
        PLAIN,
        |client, at| client.get(&agent(at, "/memory/entries")),
    ),
    mobius(
        "mobius save",
        "PUT /v1/agents/{agent}/memory/entries/{memory_key}",
        Need::Describe,
        SAVED,
        |client, at| {
            client.call("PUT", &agent(at, &saved(at)), Some(&json!({"content": "more tea"})))
        },
    ),
    mobius(
        "mobius delete",
        "DELETE /v1/agents/{agent}/memory/entries/{memory_key}",
        Need::Remove,
        SAVED,
        |client, at| client.delete(&agent(at, &saved(at))),
    ),
    mobius(
        "mobius changes",
        "GET /v1/agents/{agent}/memory/changes",
        Need::Read,
        PLAIN,
        |client, at| client.get(&agent(at, "/memory/changes")),
    ),
    mobius(
        "mobius context",
        "GET /v1/agents/{agent}/memory/context",
        Need::Read,
        PLAIN,
        // The whole memory of so many questions would not fit.
        |client, at| client.get(&agent(at, "/memory/context?mode=index")),
    ),
    mobius(
        "mobius compact",
        "POST /v1/agents/{agent}/memory/compact",
        Need::Alter,
        PLAIN,
        |client, at| {
            let wanted = json!({"max_entries": 0, "dry_run": true});
            client.post(&agent(at, "/memory/compact"), &wanted)
        },
    ),
    mobius("mobius tools", "GET /v1/agents/{agent}/tools", Need::Read, PLAIN, |client, at| {
        client.get(&agent(at, "/tools"))
    }),
    mobius(
        "mobius promote",
        "POST /v1/agents/{agent}/memory/entries/{memory_key}/promotion",
        Need::Create,
        PLAIN,
        promote,
    ),
    mobius(
        "mobius revert",
        "DELETE /v1/agents/{agent}/memory/entries/{memory_key}/promotion",
        Need::Remove,
        SAVED,
        |client, at| client.delete(&agent(at, &format!("{}/promotion", saved(at)))),
    ),
    mobius(
        "mobius recall",
        "POST /v1/agents/{agent}/tools/{tool}/invoke",
        Need::Read,
        PLAIN,
        |client, at| {
            client.post(&agent(at, "/tools/mobius.memory.recall/invoke"), &json!({"input": {}}))
        },
    ),
    mobius(
        "mobius remember",
        "POST /v1/agents/{agent}/tools/{tool}/invoke",
        Need::Describe,
        PLAIN,
        |client, at| {
            let input = json!({"input": {"key": at.key, "content": "more tea"}});
            client.post(&agent(at, "/tools/mobius.memory.remember/invoke"), &input)
        },
    ),
    mobius(
        "mobius forget",
        "POST /v1/agents/{agent}/tools/{tool}/invoke",
        Need::Remove,
        PLAIN,
        |client, at| {
            let input = json!({"input": {"key": at.key}});
            client.post(&agent(at, "/tools/mobius.memory.forget/invoke"), &input)
        },
    ),
    mobius(
        "project agent",
        "GET /v1/projects/{project}/agents/{agent}",
        Need::Read,
        PLAIN,
        |client, at| client.get(&project(at, "")),
    ),
    mobius(
        "project alter",
        "PATCH /v1/projects/{project}/agents/{agent}",
        Need::Alter,
        PLAIN,
        |client, at| {
            let wanted = json!({"memory_context": {"mode": "full"}});
            client.call("PATCH", &project(at, ""), Some(&wanted))
        },
    ),
    mobius(
        "project count",
        "GET /v1/projects/{project}/agents/{agent}/memory",
        Need::Read,
        PLAIN,
        |client, at| client.get(&project(at, "/memory")),
    ),
    mobius(
        "project context",
        "GET /v1/projects/{project}/agents/{agent}/memory/context",
        Need::Read,
        PLAIN,
        |client, at| client.get(&project(at, "/memory/context?mode=index")),
    ),
    mobius(
        "project compact",
        "POST /v1/projects/{project}/agents/{agent}/memory/compact",
        Need::Alter,
        PLAIN,
        |client, at| {
            let wanted = json!({"max_entries": 0, "dry_run": true});
            client.post(&project(at, "/memory/compact"), &wanted)
        },
    ),
    mobius(
        "project list",
        "GET /v1/projects/{project}/agents/{agent}/memory/entries",
        Need::Read,
        PLAIN,
        |client, at| client.get(&project(at, "/memory/entries")),
    ),
    mobius(
        "project save",
        "PUT /v1/projects/{project}/agents/{agent}/memory/entries/{memory_key}",
        Need::Describe,
        SAVED,
        |client, at| {
            client.call("PUT", &project(at, &saved(at)), Some(&json!({"content": "more tea"})))
        },
    ),
    mobius(
        "project delete",
        "DELETE /v1/projects/{project}/agents/{agent}/memory/entries/{memory_key}",
        Need::Remove,
        SAVED,
        |client, at| client.delete(&project(at, &saved(at))),
    ),
    mobius(
        "project changes",
        "GET /v1/projects/{project}/agents/{agent}/memory/changes",
        Need::Read,
        PLAIN,
        |client, at| client.get(&project(at, "/memory/changes")),
    ),
    mobius(
        "project tools",
        "GET /v1/projects/{project}/agents/{agent}/tools",
        Need::Read,
        PLAIN,
        |client, at| client.get(&project(at, "/tools")),
    ),
    mobius(
        "project recall",
        "POST /v1/projects/{project}/agents/{agent}/tools/{tool}/invoke",
        Need::Read,
        PLAIN,
        |client, at| {
            client.post(&project(at, "/tools/mobius_memory_recall/invoke"), &json!({"input": {}}))
        },
    ),
];
