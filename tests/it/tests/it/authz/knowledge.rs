//! Everything one can ask about what is known of a store, and documents put into it.

use super::spec::Need;
use super::verbs::{PLAIN, Verb, native, store};
use loci_it::Reply;
use serde_json::json;

pub(super) const VERBS: &[Verb] = &[
    native(
        "facts",
        "GET /v1/memory_stores/{memory_store_id}/facts",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/facts")),
    ),
    native(
        "entities",
        "GET /v1/memory_stores/{memory_store_id}/entities",
        Need::Read,
        PLAIN,
        |client, at| client.get(&store(at, "/entities")),
    ),
    native(
        "dismiss",
        "DELETE /v1/memory_stores/{memory_store_id}/facts/{fact_id}",
        Need::Create,
        PLAIN,
        |client, at| {
            let none = "/facts/00000000-0000-8000-8000-000000000000";
            let reply = client.call("DELETE", &store(at, none), None);
            // Whoever is told that there is no such fact was let in.
            let is_in = reply.status == 404 && reply.text().contains("fact");
            if is_in { Reply { status: 200, ..reply } } else { reply }
        },
    ),
    native("ask", "POST /v1/knowledge", Need::Search, PLAIN, |client, at| {
        client.post("/v1/knowledge", &json!({"query": "tea", "memory_store_ids": [at.store]}))
    }),
    native("context", "GET /v1/context", Need::Read, PLAIN, |client, at| {
        client.get(&format!("/v1/context?memory_store_id={}", at.store))
    }),
    native(
        "document",
        "POST /v1/memory_stores/{memory_store_id}/documents",
        Need::Create,
        PLAIN,
        |client, at| {
            let wanted = json!({"document": at.key, "pieces": ["tea"]});
            client.post(&store(at, "/documents"), &wanted)
        },
    ),
];
