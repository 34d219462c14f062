//! Promise: what QiForge's door acknowledges is kept whole, however long and however it was sent, on either
//! engine; and what it refuses because a visitor has no room left leaves nothing behind, stores included.

use crate::qiforge::{DID, MESSAGES, NAMED, ROOM, message, token};
use loci_it::ucan::Signer;
use loci_it::{Cluster, Reply, Server, Setup};
use serde_json::{Value, json};

fn send(server: &Server, user: &Signer, path: &str, body: &Value, more: &[(&str, &str)]) -> Reply {
    let oracle = Signer::new(9);
    let token = token(user, Some(&oracle), DID);
    let room = more.iter().all(|(name, _)| *name != "x-room-id").then_some(("x-room-id", ROOM));
    let mut headers =
        vec![("x-auth-type", "ucan"), ("accept", "application/json, text/event-stream")];
    headers.extend(room);
    headers.extend(more);
    server.client_as(Some(&token)).without_beta().call_with("POST", path, Some(body), &headers)
}

/// The text of a tool's answer, and whether it is a failure.
fn tool(
    server: &Server,
    user: &Signer,
    room: &str,
    name: &str,
    arguments: &Value,
) -> (String, bool) {
    let params = json!({"name": name, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let reply = send(server, user, "/qiforge/mcp", &body, &[("x-room-id", room)]);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let text = reply.text();
    let data = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
    let result = serde_json::from_str::<Value>(data).unwrap()["result"].clone();
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == true)
}

/// The stores of this door and how many memories each holds, as an administrator sees them.
fn stores(server: &Server) -> Vec<(String, u64)> {
    let mut admin = server.client();
    let listed = admin.get("/v1/memory_stores?limit=100").ok();
    let stores = listed["data"].as_array().unwrap().iter();
    let ours = stores.filter(|store| store["name"].as_str().unwrap().starts_with("qiforge"));
    let ours: Vec<String> = ours.map(|store| store["id"].as_str().unwrap().to_owned()).collect();
    ours.into_iter()
        .map(|id| {
            let stats = admin.get(&format!("/v1/memory_stores/{id}/stats")).ok();
            (id, stats["memories"].as_u64().unwrap())
        })
        .collect()
}

fn a_key_keeps_every_message(server: &Server) {
    let ana = Signer::new(1);
    let messages: Vec<Value> =
        (0..2500).map(|at| message("Ana", &format!("heron {at}"), "A")).collect();
    let body = json!({ "messages": messages });
    let key = [("idempotency-key", "once")];
    for expected in ["2500 messages added, 0 known", "0 messages added, 2500 known"] {
        let reply = send(server, &ana, MESSAGES, &body, &key);
        assert_eq!(reply.status, 202, "{}", reply.text());
        assert!(reply.text().contains(expected), "{}", reply.text());
        let kept = stores(server);
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].1, 2500);
    }
    // The last one is there, and not just as many.
    let path =
        format!("/v1/memory_stores/{}/memory_by_path?path=/messages/{:012}", kept_id(server), 2500);
    assert_eq!(server.client().get(&path).ok()["content"], "heron 2499");
    // Over the limit of a body that holds many things at once.
    let long = vec![message("Ana", &"x".repeat(1 << 16), "A"); 520];
    assert_eq!(send(server, &ana, MESSAGES, &json!({ "messages": long }), &key).status, 413);
    assert_eq!(stores(server)[0].1, 2500);
}

fn kept_id(server: &Server) -> String {
    stores(server)[0].0.clone()
}

#[test]
fn a_long_conversation_with_a_key_is_kept_whole() {
    a_key_keeps_every_message(&Setup::new().config(NAMED).start());
}

#[test]
fn a_long_conversation_with_a_key_is_kept_whole_on_postgresql() {
    let cluster = Cluster::fresh().with(|setup| setup.config(NAMED));
    a_key_keeps_every_message(&cluster.start());
}

/// Bounds of a visitor, and an oracle that user 1 owns.
fn bounded() -> String {
    let (owner, oracle) = (Signer::new(1), Signer::new(9));
    format!(
        "{NAMED}visitor_memories = 3\nvisitor_mb = 1\n[qiforge.oracles.'{}']\nowners = ['{}']\n",
        oracle.did, owner.did
    )
}

/// Asks `servers` in turn, so that what one of them admitted counts at the next one.
fn refusals_leave_nothing(servers: &[Server]) {
    let (ana, bob, eve) = (Signer::new(1), Signer::new(2), Signer::new(3));
    let server = |at: usize| &servers[at % servers.len()];
    let over = json!({"messages": (0..4).map(|at| message("Ana", &format!("{at}"), "A")).collect::<Vec<_>>()});
    let add = json!({"name": "n", "content": "c"});
    let known = json!({"name": "n", "content": "c", "confirmed_insertion_from_user": true,
        "knowledge_space_type": "public"});
    for at in 0..20 {
        let room = format!("!fresh{at}:s");
        let reply = send(server(at), &eve, MESSAGES, &over, &[("x-room-id", room.as_str())]);
        assert_eq!(reply.status, 507, "{}", reply.text());
    }
    assert_eq!(stores(server(0)), [], "what was refused left a store");
    // Each at the limit: three memories in three rooms, then no fourth room.
    for at in 0..3 {
        let (text, is_error) = tool(server(at), &bob, &format!("!room{at}:s"), "add_memory", &add);
        assert!(!is_error, "{text}");
        let (text, is_error) = tool(server(at), &ana, ROOM, "add_oracle_knowledge", &known);
        assert!(!is_error, "{text}");
    }
    let there = stores(server(0));
    assert_eq!(there.iter().map(|(_, memories)| *memories).sum::<u64>(), 6, "{there:?}");
    for at in 3..9 {
        let room = format!("!room{at}:s");
        let (text, is_error) = tool(server(at), &bob, &room, "add_memory", &add);
        assert!(is_error && text.contains("a visitor may keep 3 memories"), "{text}");
        let (text, is_error) = tool(server(at), &ana, &room, "add_oracle_knowledge", &known);
        assert!(is_error && text.contains("a visitor may keep 3 memories"), "{text}");
    }
    let mut now = stores(server(1));
    now.sort();
    let mut there = there;
    there.sort();
    assert_eq!(now, there);
    // Labels and the row of a memory count as its content does.
    let label = json!({"name": "n", "content": "x".repeat(1_047_000), "source_description": "d".repeat(1000)});
    let (text, is_error) = tool(server(0), &eve, ROOM, "add_memory", &label);
    assert!(is_error && text.contains("1 MB"), "{text}");
    let fits = json!({"name": "n", "content": "x".repeat(1_047_000)});
    let (text, is_error) = tool(server(0), &eve, ROOM, "add_memory", &fits);
    assert!(!is_error, "{text}");
}

#[test]
fn a_visitor_without_room_leaves_no_stores() {
    refusals_leave_nothing(&[Setup::new().config(&bounded()).start()]);
}

#[test]
fn a_visitor_without_room_leaves_no_stores_on_two_servers() {
    let cluster = Cluster::fresh().with(|setup| setup.config(&bounded()));
    refusals_leave_nothing(&cluster.start_together(2));
}
