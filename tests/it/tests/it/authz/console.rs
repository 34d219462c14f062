//! What the console asks for: everything about a store that people look at and put right.

use super::spec::Need;
use super::verbs::{PLAIN, Verb, native, store};
use serde_json::json;

/// Nobody wrote as this one.
const NOBODY: &str = "user_010000000000000000000001";

pub(super) const VERBS: &[Verb] = &[
    native(
        "history",
        "GET /v1/memory_stores/{memory_store_id}/history",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/history?actor=admin&limit=1")),
    ),
    native(
        "hygiene",
        "GET /v1/memory_stores/{memory_store_id}/hygiene",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/hygiene?check=stale")),
    ),
    native(
        "secrets",
        "GET /v1/memory_stores/{memory_store_id}/hygiene",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/hygiene?check=secrets")),
    ),
    native(
        "past",
        "GET /v1/memory_stores/{memory_store_id}/entries",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/entries?as_of=2100-01-01T00:00:00Z&limit=1")),
    ),
    native(
        "redactions",
        "POST /v1/memory_stores/{memory_store_id}/redactions",
        Need::Manage,
        PLAIN,
        |client, at| {
            let wanted = json!({"memory_version_ids": [at.version], "dry_run": true});
            client.post(&store(at, "/redactions"), &wanted)
        },
    ),
    native(
        "revert",
        "POST /v1/memory_stores/{memory_store_id}/revert",
        Need::Upsert,
        PLAIN,
        |client, at| {
            let wanted = json!({"actor": NOBODY, "since": "2020-01-01T00:00:00Z"});
            client.post(&store(at, "/revert"), &wanted)
        },
    ),
    native(
        "access",
        "GET /v1/memory_stores/{memory_store_id}/access",
        Need::Share,
        PLAIN,
        |client, at| client.get(&store(at, "/access?who=everyone")),
    ),
];
