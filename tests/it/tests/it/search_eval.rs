//! Promise: the figures of `loci eval` are those anybody gets who drives the search by HTTP and
//! counts. Both are done here on the same file, and agree to the last digit.

use std::collections::BTreeMap;
use std::fs;

use loci_it::{Api, FACTS, Loci, Setup, crowd};
use serde_json::{Value, json};

const DEPTH: usize = 20;
const CUTS: [usize; 3] = [5, 10, 20];

/// Two conversations of short turns. Some questions have two answers, and some are hard.
fn data() -> Value {
    let conversation = |idx: usize| {
        let mut memories = Vec::new();
        let mut questions = Vec::new();
        for number in 0..48 {
            let (speaker, at) = (["Ana", "Bruno"][number % 2], idx * 300 + number * 5);
            let text = match number % 8 {
                3 => FACTS[(idx * 6 + number / 8) % FACTS.len()].0.to_owned(),
                _ => crowd(at),
            };
            memories.push(json!({
                "id": format!("t{number}"),
                "path": format!("/c{idx}/session_{}/turn_{number:03}.md", number / 12),
                "content": format!("{speaker} (May {}, 2024): {text}", 1 + number / 12),
            }));
        }
        let mut ask = |text: String, evidence: Value| {
            let (qid, category) = (format!("c{idx}q{}", questions.len()), 1 + questions.len() % 4);
            questions.push(json!({
                "qid": qid, "question": text, "category": category, "evidence": evidence,
            }));
        };
        for fact in 0..6 {
            let turn = fact * 8 + 3;
            let (_, asked) = FACTS[(idx * 6 + fact) % FACTS.len()];
            ask(asked.to_owned(), json!([format!("t{turn}")]));
            ask(
                format!("{asked} And what came next?"),
                json!([format!("t{turn}"), format!("t{}", turn + 1)]),
            );
        }
        for turn in [1, 10, 20, 30] {
            let words: Vec<String> =
                crowd(idx * 300 + turn * 5).split(' ').skip(2).map(str::to_owned).collect();
            ask(
                format!("When was it that somebody {}?", words.join(" ")),
                json!([format!("t{turn}")]),
            );
        }
        ask("What does Ana think of opera?".to_owned(), json!(["t47", "t0", "t47"]));
        json!({"idx": idx, "sample_id": format!("c{idx}"), "memories": memories, "questions": questions})
    };
    json!({"name": "own", "conversations": [conversation(0), conversation(1)]})
}

/// The figures of one ranking, by their definitions.
fn figures(ranked: &[String], evidence: &[String]) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    let is_evidence = |path: &&String| evidence.contains(path);
    for cut in CUTS {
        let hits = ranked.iter().take(cut).filter(is_evidence).count();
        found.insert(format!("R@{cut}"), hits as f64 / evidence.len() as f64);
        found.insert(format!("all@{cut}"), f64::from(u8::from(hits == evidence.len())));
        if cut == 10 {
            found.insert("any@10".to_owned(), f64::from(u8::from(hits > 0)));
        }
    }
    let first = ranked.iter().position(|path| evidence.contains(path));
    found.insert("MRR".to_owned(), first.map_or(0.0, |at| 1.0 / (at + 1) as f64));
    let discount = |at: usize| 1.0 / ((at + 2) as f64).log2();
    let gain: f64 = ranked
        .iter()
        .take(10)
        .enumerate()
        .filter(|(_, path)| evidence.contains(path))
        .map(|(at, _)| discount(at))
        .sum();
    let best: f64 = (0..evidence.len().min(10)).map(discount).sum();
    found.insert("nDCG@10".to_owned(), gain / best);
    found
}

/// What driving the search by HTTP gives for each question.
fn by_http(data: &Value, mode: &str, is_merged: bool) -> BTreeMap<String, BTreeMap<String, f64>> {
    let setup = Setup::new();
    let server = setup.start();
    let mut stores: Vec<Api> = Vec::new();
    let mut answers = BTreeMap::new();
    let conversations = data["conversations"].as_array().unwrap();
    for conversation in conversations {
        if stores.is_empty() || !is_merged {
            stores.push(Api::create(server.client(), "evaluation"));
        }
        let api = stores.last_mut().unwrap();
        for memory in conversation["memories"].as_array().unwrap() {
            let text = |name: &str| memory[name].as_str().unwrap();
            api.put(text("path"), text("content"));
        }
    }
    for (number, conversation) in conversations.iter().enumerate() {
        let api = &mut stores[if is_merged { 0 } else { number }];
        api.settle();
        let paths: BTreeMap<&str, String> = conversation["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["id"].as_str().unwrap(), it["path"].as_str().unwrap().to_owned()))
            .collect();
        for question in conversation["questions"].as_array().unwrap() {
            let body = json!({
                "query": question["question"], "mode": mode, "limit": DEPTH, "view": "basic",
            });
            let answer = api.search(&body).ok();
            let hits = answer["data"].as_array().unwrap().iter();
            let ranked: Vec<String> =
                hits.map(|hit| hit["path"].as_str().unwrap().to_owned()).collect();
            let mut evidence: Vec<String> = Vec::new();
            for id in question["evidence"].as_array().unwrap() {
                let path = &paths[id.as_str().unwrap()];
                if !evidence.contains(path) {
                    evidence.push(path.clone());
                }
            }
            let qid = question["qid"].as_str().unwrap().to_owned();
            answers.insert(qid, figures(&ranked, &evidence));
        }
    }
    server.stop();
    answers
}

fn mean(rows: &[&BTreeMap<String, f64>], name: &str) -> f64 {
    rows.iter().map(|row| row[name]).sum::<f64>() / rows.len() as f64
}

#[test]
fn an_evaluation_and_a_search_by_http_agree_exactly() {
    let data = data();
    let setup = Setup::new();
    let file = setup.scratch().join("own.json");
    fs::write(&file, data.to_string()).unwrap();
    let loci = Loci::default();
    for (mode, scope) in [
        ("hybrid", "per-conversation"),
        ("lexical", "per-conversation"),
        ("semantic", "merged"),
        ("hybrid", "merged"),
    ] {
        let path = file.to_str().unwrap();
        let report = loci.json(&["eval", "--data", path, "--mode", mode, "--scope", scope]);
        let expect = by_http(&data, mode, scope == "merged");
        let questions = report["questions"].as_array().unwrap();
        assert_eq!(questions.len(), expect.len(), "{mode} {scope}");
        for question in questions {
            let expect = &expect[question["qid"].as_str().unwrap()];
            for (name, value) in expect {
                let said = question["figures"][name].as_f64().unwrap();
                let is_same = (said - value).abs() < 1e-12;
                assert!(is_same, "{mode} {scope} {}: {name} {said}, {value}", question["qid"]);
            }
        }
        let rows: Vec<&BTreeMap<String, f64>> = expect.values().collect();
        let all = &report["sets"][0];
        assert_eq!((&all["set"], &all["n"]), (&json!("all"), &json!(rows.len())));
        for (name, said) in all["figures"].as_object().unwrap() {
            let (said, own) = (said.as_f64().unwrap(), mean(&rows, name));
            assert!((said - own).abs() < 1e-12, "{mode} {scope}: {name} {said}, {own}");
        }
        eprintln!("{mode}, {scope}: {}", all["figures"]);
        let recall = all["figures"]["R@10"].as_f64().unwrap();
        assert!((0.1..1.0).contains(&recall), "a file that says nothing: R@10 {recall}");
    }
}
