//! Promise: who may only search a store gets so many different memories of it on one day, at whatever
//! door, and pieces of them where a door's contract does not say contents.

use crate::sharing::{NO_MODEL, agent};
use loci_it::mcp::{post, tool};
use loci_it::{Client, Setup};
use serde_json::json;
use std::collections::BTreeSet;

const PER_DAY: usize = 5;
const MEMORIES: usize = 12;

/// The doors that search, by the way in which each is asked for a word.
const DOORS: [(&str, Ask); 7] = [
    ("store", |client, store, word| {
        let url = format!("/v1/memory_stores/{store}/search");
        client.post(&url, &json!({"query": word})).text()
    }),
    ("everywhere", |client, _, word| client.post("/v1/search", &json!({"query": word})).text()),
    ("knowledge", |client, store, word| {
        let asked = json!({"query": word, "memory_store_ids": [store], "max_episodes": 50});
        client.post("/v1/knowledge", &asked).text()
    }),
    ("mcp", |client, store, word| {
        let asked = tool("memory_search", &json!({"query": word, "store": store}));
        post(client, &asked, &[]).text()
    }),
    ("robutler", |client, store, word| {
        client.get(&format!("/api/storage/memory?action=search&q={word}&store={store}")).text()
    }),
    ("tool", |client, store, word| {
        let asked = json!({"command": "search", "query": word, "store": store});
        client.post("/v1/tools/memory", &asked).text()
    }),
    ("kilroy", |client, _, word| kilroy(client, "memory_search", word)),
];

type Ask = fn(&mut Client, &str, &str) -> String;

fn kilroy(client: &mut Client, block: &str, text: &str) -> String {
    let url = format!("/api/v1/pd/webhook_sync/-/kilroy.ai.webhooks/{block}");
    let targs = json!({"memory_id": "shared/notes"}).to_string();
    client.post(&url, &json!({"targs": targs, "args": [{"text": text}]})).text()
}

/// Asks for one memory after another by the word that only it has; which were given.
fn look(client: &mut Client, store: &str, ask: Ask) -> BTreeSet<usize> {
    let mut given = BTreeSet::new();
    for asked in 0..MEMORIES {
        let answer = ask(client, store, &format!("word{asked:02}"));
        given.extend((0..MEMORIES).filter(|it| answer.contains(&format!("secret{it:02}"))));
    }
    given
}

#[test]
fn a_day_gives_so_many_memories_at_all_doors_together() {
    let limits = format!("{NO_MODEL}[limits]\nsearch_only_memories_per_day = {PER_DAY}\n");
    let setup = Setup::new().config(&limits);
    let server = setup.start();
    let mut admin = server.client();
    for number in 0..MEMORIES {
        kilroy(&mut admin, "memory_write", &format!("word{number:02} secret{number:02}"));
    }
    let stores = admin.get("/v1/memory_stores").ok();
    let store = stores["data"][0]["id"].as_str().unwrap().to_owned();
    let mut seeker = |name: &str| {
        let client = agent(&server, name);
        let url = format!("/v1/memory_stores/{store}/grants");
        admin.post(&url, &json!({"grantee": name, "level": "search"})).ok();
        client
    };
    for (door, ask) in DOORS {
        let mut client = seeker(door);
        let given = look(&mut client, &store, ask);
        assert_eq!(given.len(), PER_DAY, "{door} gives as many as a day has: {given:?}");
        let again = look(&mut client, &store, ask);
        assert_eq!(again, given, "{door} gives those again, and no others");
    }
    let mut client = seeker("all of them");
    let given: BTreeSet<usize> =
        DOORS.into_iter().flat_map(|(_, ask)| look(&mut client, &store, ask)).collect();
    assert_eq!(given.len(), PER_DAY, "all doors count together: {given:?}");
    server.stop();
}

#[test]
fn a_question_gives_pieces_of_what_may_only_be_searched() {
    let setup = Setup::new().config(NO_MODEL);
    let server = setup.start();
    let mut admin = server.client();
    let long =
        format!("{} The harbour closes at nine. {}", "Dull. ".repeat(200), "More. ".repeat(200));
    kilroy(&mut admin, "memory_write", &long);
    let stores = admin.get("/v1/memory_stores").ok();
    let grants = format!("/v1/memory_stores/{}/grants", stores["data"][0]["id"].as_str().unwrap());
    let mut client = agent(&server, "seeker");
    for (level, is_whole) in [("search", false), ("read", true)] {
        admin.post(&grants, &json!({"grantee": "seeker", "level": level})).ok();
        let known = client.post("/v1/knowledge", &json!({"query": "harbour"})).ok();
        let episode = &known["episodes"][0];
        assert_eq!(episode["content"] == long.as_str(), is_whole, "{level}: {episode}");
        assert_eq!(episode["content"].is_null(), !is_whole, "{level}: {episode}");
        let piece = episode["snippet"].as_str().unwrap_or_default();
        assert_eq!(piece.contains("harbour"), !is_whole, "{level}: {episode}");
        assert!(piece.len() < long.len() / 2);
    }
    server.stop();
}
