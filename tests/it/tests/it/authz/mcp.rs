//! The default tools and the resources of `/mcp`, asked like every other door. Their answers are
//! brought into the form of the other tool, so that the same specification holds for both.

use super::spec::{Manner, Need};
use super::verbs::Verb;
use super::world::{State, Target};
use loci_it::{Client, Reply, mcp};
use serde_json::{Value, json};

const PLAIN: &[State] = &[State::Plain];
const EVERY: &[State] = &State::ALL;

const fn tool(
    name: &'static str,
    need: Need,
    states: &'static [State],
    ask: fn(&mut Client, &Target) -> Reply,
) -> Verb {
    Verb { name, route: "POST /mcp", manner: Manner::Tool, need, is_elsewhere: false, states, ask }
}

/// Every default tool, and reading a resource.
pub(super) const VERBS: &[Verb] = &[
    tool("mcp search", Need::Search, PLAIN, |client, at| {
        call(client, "memory_search", json!({"query": "tea"}), at)
    }),
    tool("mcp read", Need::ReadText, EVERY, |client, at| {
        call(client, "memory_read", json!({"path": at.key}), at)
    }),
    tool("mcp list", Need::Read, PLAIN, |client, at| call(client, "memory_list", json!({}), at)),
    tool("mcp context", Need::Read, PLAIN, |client, at| {
        call(client, "memory_context", json!({"query": "tea"}), at)
    }),
    tool("mcp write", Need::Upsert, PLAIN, |client, at| {
        call(client, "memory_write", json!({"path": at.key, "content": "milk"}), at)
    }),
    tool("mcp edit", Need::Edit, EVERY, |client, at| {
        let edit = json!({"path": at.key, "old_text": "tea", "new_text": "milk"});
        call(client, "memory_edit", edit, at)
    }),
    tool("mcp forget", Need::Remove, EVERY, |client, at| {
        call(client, "memory_forget", json!({"path": at.key}), at)
    }),
    tool("mcp resource", Need::ReadText, EVERY, |client, at| {
        let uri = format!("loci://{}/{}", at.store, at.key);
        let asked = mcp::request("resources/read", &json!({"uri": uri}));
        plain(mcp::post(client, &asked, &[]), true)
    }),
];

fn call(client: &mut Client, name: &str, mut arguments: Value, at: &Target) -> Reply {
    arguments["store"] = json!(at.store);
    let reads = name == "memory_read";
    plain(mcp::post(client, &mcp::tool(name, &arguments), &[]), reads)
}

/// The answer in the form of the other tool: what is missing is nothing to a reader, and what is
/// sealed says so.
fn plain(reply: Reply, reads: bool) -> Reply {
    if reply.status != 200 {
        return reply;
    }
    let answer = reply.json();
    let (result, error) = (&answer["result"], &answer["error"]);
    let text = [&result["content"][0]["text"], &result["contents"][0]["text"], &error["message"]];
    let text = text.iter().find_map(|text| text.as_str()).unwrap_or_default();
    let is_error = result["isError"] == true || error.is_object();
    let told = match is_error {
        true if reads && text.contains("there is no memory at this path") => Value::Null,
        true if text.contains("this memory is sealed") => json!({"encrypted": true}),
        _ => json!(text),
    };
    let is_error = is_error && told.is_string();
    let body = json!({"result": told, "is_error": is_error}).to_string().into_bytes();
    Reply { body, ..reply }
}
