//! Requests that say that they are about another user than whose store it is: at the doors that know
//! users, whom a chat brings near one user is so in that user's own sessions only.

use super::doors::{robutler, tool};
use super::spec::Need;
use super::verbs::{EVERY, PLAIN, Verb, entry, execute};
use serde_json::json;

/// What such a request has in its query.
const ANOTHER: &str = "userId=another-user";

const fn elsewhere(verb: Verb) -> Verb {
    Verb { is_elsewhere: true, ..verb }
}

pub(super) const VERBS: &[Verb] = &[
    elsewhere(robutler(
        "robutler read*",
        "GET /api/storage/memory/{key}",
        Need::ReadOne,
        EVERY,
        |client, at| client.get(&format!("{}&{ANOTHER}", entry(at))),
    )),
    elsewhere(robutler(
        "robutler list*",
        "GET /api/storage/memory",
        Need::Read,
        PLAIN,
        |client, at| {
            client.get(&format!("/api/storage/memory?store={}&inContext=true&{ANOTHER}", at.whose))
        },
    )),
    elsewhere(robutler(
        "robutler write*",
        "PUT /api/storage/memory/{key}",
        Need::Upsert,
        PLAIN,
        |client, at| {
            let body = json!({"store": at.whose, "value": "more", "userId": "another-user"});
            client.call("PUT", &format!("/api/storage/memory/{}", at.key), Some(&body))
        },
    )),
    elsewhere(robutler(
        "robutler delete*",
        "DELETE /api/storage/memory/{key}",
        Need::RemoveOwn,
        PLAIN,
        |client, at| client.delete(&format!("{}&{ANOTHER}", entry(at))),
    )),
    elsewhere(robutler(
        "robutler search*",
        "GET /api/storage/memory",
        Need::Search,
        PLAIN,
        |client, at| {
            let query = format!("action=search&q=tea&store={}&{ANOTHER}", at.whose);
            client.get(&format!("/api/storage/memory?{query}"))
        },
    )),
    elsewhere(robutler(
        "robutler share*",
        "POST /api/storage/memory",
        Need::Share,
        PLAIN,
        |client, at| {
            let body = json!({"store": at.whose, "grantee": at.grantee, "userId": "another-user"});
            client.post("/api/storage/memory?action=share", &body)
        },
    )),
    elsewhere(tool("tool view*", Need::ReadText, PLAIN, |client, at| {
        let input = json!({"command": "view", "key": at.key, "userId": "another-user"});
        execute(client, input, at)
    })),
];
