//! Promise: what was written is found by word by the very next request, and what was changed or
//! removed is not found any more. Answers say what was found, where in its text, and why.

use std::thread;

use loci_it::{Api, Dice, FACTS, Server, Setup, count, eventually, ids};
use serde_json::{Value, json};

const CLIENTS: usize = 8;

fn start(name: &str) -> (Setup, Server, Api) {
    let setup = Setup::new();
    let server = setup.start();
    let api = Api::create(server.client(), name);
    (setup, server, api)
}

#[test]
fn a_write_is_found_by_word_by_the_very_next_request() {
    let (_setup, server, mut api) = start("next request");
    let mut dice = Dice::new("next request");
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let mut own = Api::open(server.client(), &api.store);
            let mut dice = dice.split();
            thread::spawn(move || {
                for turn in 0..count("search_writes") {
                    let word = dice.letters(14).to_lowercase();
                    let text = format!("client {number} notes the word {word} at turn {turn}");
                    let memory = own.put(&format!("/c{number}/{turn}"), &text);
                    // Now and then with meaning beside it, whose vectors are still being made.
                    let mode = if turn % 25 == 0 { "hybrid" } else { "lexical" };
                    let found = own.found(mode, &format!("what about {word}?"));
                    assert_eq!(found.first(), Some(&memory.id), "{mode}, turn {turn}");
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("every write was found at once");
    }
    assert_eq!(api.memories().len(), CLIENTS * count("search_writes"));
    server.stop();
}

#[test]
fn a_change_and_a_removal_count_at_once() {
    let (_setup, server, mut api) = start("changes");
    let memory = api.put("/a", "the harbour master is called Okonkwo");
    assert_eq!(api.found("lexical", "okonkwo"), [memory.id.as_str()]);
    api.update(&memory.id, &json!({"content": "the harbour master is called Lindqvist"}));
    assert!(api.found("lexical", "okonkwo").is_empty());
    assert_eq!(api.found("lexical", "lindqvist"), [memory.id.as_str()]);
    api.update(&memory.id, &json!({"path": "/people/wharfinger"}));
    assert_eq!(api.found("lexical", "wharfinger"), [memory.id.as_str()], "paths are searchable");
    let attributes = api.path(&format!("/memories/{}/attributes", memory.id));
    api.client.post(&attributes, &json!({"tags": ["seafaring"]})).ok();
    assert_eq!(api.found("lexical", "seafaring"), [memory.id.as_str()], "tags are searchable");
    api.client.post(&attributes, &json!({"ttl_seconds": 3})).ok();
    assert_eq!(api.found("lexical", "lindqvist"), [memory.id.as_str()]);
    eventually("its end", || api.found("lexical", "lindqvist").is_empty());

    let other = api.put("/b", "the lighthouse keeper is called Adeyemi");
    assert_eq!(api.found("lexical", "adeyemi"), [other.id.as_str()]);
    api.delete(&other.id);
    for mode in ["lexical", "hybrid", "semantic"] {
        assert!(!api.found(mode, "lighthouse keeper Adeyemi").contains(&other.id), "{mode}");
    }
    server.stop();
}

#[test]
fn facts_are_found_in_other_words() {
    let (_setup, server, mut api) = start("other words");
    let facts: Vec<(String, &str)> = FACTS
        .iter()
        .enumerate()
        .map(|(number, (text, asked))| (api.put(&format!("/f/{number}"), text).id, *asked))
        .collect();
    let answer = api.settle();
    assert_eq!(answer["indexed_through"], FACTS.len(), "{answer}");
    let mut first = 0;
    for (id, asked) in &facts {
        for mode in ["semantic", "hybrid"] {
            let found = api.found(mode, asked);
            assert!(found.iter().take(3).any(|it| it == id), "{mode}: {asked}");
            first += usize::from(found[0] == *id);
        }
    }
    assert!(first >= facts.len() * 2 * 3 / 4, "only {first} at the first place");
    server.stop();
}

#[test]
fn an_answer_shows_the_memory_where_it_fits_and_why() {
    let (_setup, server, mut api) = start("shown");
    let text = format!("{} In March Yara chose the blue tiles. {}", "So it was. ".repeat(40), "x");
    let memory = api.put("/notes/über.md", &text);
    let attributes = api.path(&format!("/memories/{}/attributes", memory.id));
    let about = json!({
        "kind": "fact", "tags": ["home"], "importance": 70, "pinned": true, "source": "chat",
        "scope": "flat", "metadata": {"room": "bath", "n": 2},
    });
    api.client.post(&attributes, &about).ok();
    api.put("/notes/other.md", "nothing of the sort");
    api.settle();
    let body = json!({"query": "which tiles did Yara choose?", "explain": true, "limit": 1});
    let answer = api.search(&body).ok();
    let hit = &answer["data"][0];
    let shown = api.get(&memory.id).ok();
    for (name, value) in shown.as_object().unwrap() {
        assert_eq!(&hit[name], value, "{name} as the Memory Stores API shows it");
    }
    for (name, value) in about.as_object().unwrap() {
        assert_eq!(&hit[name], value, "{name}");
    }
    let snippet = hit["snippet"].as_str().unwrap();
    assert!(snippet.contains("blue tiles") && snippet.chars().count() <= 242, "{snippet}");
    let marked = highlighted(hit);
    assert!(marked.contains(&"Yara".to_owned()) && marked.contains(&"tiles".to_owned()));
    let why = &hit["explanation"];
    assert!(why["lexical"].as_f64().unwrap() > 0.0, "{why}");
    assert!(why["semantic"].as_f64().unwrap() > 0.2, "{why}");
    assert!(why["words"].as_array().unwrap().len() >= 2, "{why}");
    assert_eq!((&answer["indexed_through"], &answer["is_complete"]), (&json!(3), &json!(true)));

    let body = json!({"query": "tiles", "view": "basic", "snippet_chars": 20});
    let hit = api.search(&body).ok()["data"][0].clone();
    assert!(hit["content"].is_null() && hit.get("explanation").is_none(), "{hit}");
    assert!(hit["snippet"].as_str().unwrap().chars().count() <= 22, "{hit}");
    server.stop();
}

fn highlighted(hit: &Value) -> Vec<String> {
    let snippet: Vec<char> = hit["snippet"].as_str().unwrap().chars().collect();
    let spans = hit["highlights"].as_array().unwrap().iter();
    let at = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    spans.map(|span| snippet[at(&span[0])..at(&span[1])].iter().collect()).collect()
}

#[test]
fn filters_hold_in_every_mode() {
    let (_setup, server, mut api) = start("filters");
    let mut made = Vec::new();
    for (path, kind, tags, n) in [
        ("/office/a", "fact", json!(["red", "blue"]), 1),
        ("/office/b", "plan", json!(["red"]), 2),
        ("/home/c", "fact", json!(["blue"]), 2),
        ("/home/d", "task", json!([]), 3),
    ] {
        let memory = api.put(path, &format!("the boiler is serviced in May, says note {path}"));
        let url = api.path(&format!("/memories/{}/attributes", memory.id));
        let source = if n == 2 { json!("chat") } else { Value::Null };
        let about = json!({"kind": kind, "tags": tags, "source": source, "metadata": {"n": n}});
        api.client.post(&url, &about).ok();
        made.push(memory.id);
    }
    api.settle();
    let cases = [
        (json!({}), vec![0, 1, 2, 3]),
        (json!({"path_prefix": "/office/"}), vec![0, 1]),
        (json!({"kind": "fact"}), vec![0, 2]),
        (json!({"kind": ["plan", "task"]}), vec![1, 3]),
        (json!({"tags": ["red", "blue"]}), vec![0]),
        (json!({"source": "chat"}), vec![1, 2]),
        (json!({"metadata": {"n": 2}}), vec![1, 2]),
        (json!({"metadata": {"n": "2"}}), vec![]),
        (json!({"kind": "fact", "path_prefix": "/home/"}), vec![2]),
        (json!({"created_after": "2020-01-01T00:00:00Z"}), vec![0, 1, 2, 3]),
        (json!({"created_before": "2020-01-01T00:00:00Z"}), vec![]),
        (json!({"updated_before": "2020-01-01T00:00:00Z"}), vec![]),
    ];
    for (filter, expect) in cases {
        for mode in ["lexical", "semantic", "hybrid"] {
            let body = json!({"query": "boiler service", "mode": mode, "filter": filter});
            let mut found = ids(&api.search(&body).ok());
            found.sort_unstable();
            let mut wanted: Vec<String> =
                expect.iter().map(|at: &usize| made[*at].clone()).collect();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{mode} {filter}");
        }
    }
    server.stop();
}

#[test]
fn a_search_of_everything_names_the_store_of_each_result() {
    let (_setup, server, mut first) = start("one");
    let mut second = Api::create(server.client(), "two");
    let third = Api::create(server.client(), "three");
    let here = first.put("/a", "the ferry sails on Thursday").id;
    let there = second.put("/a", "the ferry is late on Friday").id;
    first.settle();
    second.settle();
    let answer = first.client.post("/v1/search", &json!({"query": "ferry"})).ok();
    let mut found = ids(&answer);
    found.sort_unstable();
    let mut both = vec![here.clone(), there.clone()];
    both.sort_unstable();
    assert_eq!(found, both);
    let reached = answer["indexed_through"].as_object().unwrap();
    assert_eq!(reached.get(&first.store), Some(&json!(1)), "{answer}");
    assert!(!reached.contains_key(&third.store), "only stores with results: {answer}");
    let named = json!({"query": "ferry", "memory_store_ids": [second.store]});
    assert_eq!(ids(&first.client.post("/v1/search", &named).ok()), [there.as_str()]);

    // Best first over both stores, not store by store.
    let answer = first.client.post("/v1/search", &json!({"query": "ferry Friday"})).ok();
    assert_eq!(ids(&answer)[0], there);
    assert_eq!(answer["data"][0]["memory_store_id"], second.store.as_str());
    server.stop();
}

#[test]
fn the_past_is_searched_as_it_stood() {
    let (_setup, server, mut api) = start("past");
    let memory = api.put("/a", "the gate code is kestrel");
    api.settle();
    let first = api.versions(&memory.id)[0].clone();
    api.update(&memory.id, &json!({"content": "the gate code is merlin"}));
    api.settle();
    api.delete(&memory.id);
    let past = |api: &mut Api, as_of: &Value, query: &str| {
        let body = json!({"query": query, "mode": "hybrid", "as_of": as_of});
        let answer = api.search(&body).ok();
        let data = answer["data"].as_array().unwrap().clone();
        data.iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let version = first["id"].clone();
    for as_of in [json!(1), version, first["created_at"].clone()] {
        for query in ["kestrel", "which bird opens the door?"] {
            assert_eq!(past(&mut api, &as_of, query), ["the gate code is kestrel"], "{as_of}");
        }
    }
    assert_eq!(past(&mut api, &json!(2), "gate"), ["the gate code is merlin"]);
    assert!(past(&mut api, &json!(3), "gate").is_empty());
    assert!(past(&mut api, &json!("2020-01-01T00:00:00Z"), "gate").is_empty());
    assert!(api.found("hybrid", "gate").is_empty());
    server.stop();
}

#[test]
fn words_of_other_scripts_are_found() {
    let (_setup, server, mut api) = start("scripts");
    let cases = [
        ("会議は木曜日に東京駅で行われます", "東京駅"),
        ("我们下周三在北京大学见面", "北京大学"),
        ("회의는 목요일 오후에 시작합니다", "목요일"),
        ("Die Straße nach Zürich ist gesperrt", "strasse zurich"),
        ("встреча перенесена на пятницу", "пятницу"),
        ("اجتماع الفريق يوم الأحد", "الأحد"),
        ("emoji 🦊 in the garden", "fox garden 🦊"),
        ("call parse_config() in src/main.rs", "parse_config"),
    ];
    let made: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(number, (text, _))| api.put(&format!("/s/{number}"), text).id)
        .collect();
    for ((_, query), id) in cases.iter().zip(&made) {
        assert_eq!(api.found("lexical", query).first(), Some(id), "{query}");
    }
    server.stop();
}
