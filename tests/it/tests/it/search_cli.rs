//! Promise: the command line searches what the server searches, on an idle directory, beside a
//! running server and over HTTP.

use std::fs;

use loci_it::{ADMIN_KEY, FACTS, Loci, Setup};
use serde_json::{Value, json};

const FAILURE: i32 = 1;
const USAGE: i32 = 2;
const NOT_FOUND: i32 = 3;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn paths(answer: &Value) -> Vec<String> {
    let data = answer["data"].as_array().unwrap().iter();
    data.map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

fn tour(loci: &Loci) {
    loci.ok(&["store", "create", "notes"]);
    loci.ok(&["store", "create", "other"]);
    for (number, (fact, _)) in FACTS.iter().enumerate() {
        loci.ok(&["put", "notes", &format!("/facts/{number}.md"), "--text", fact]);
    }
    loci.ok(&["put", "other", "/x.md", "--text", "the barn door of another store"]);

    // By word at once; by meaning when waited for.
    let shown = text(&loci.ok(&["search", "peanuts", "rash"]));
    let first = shown.lines().next().unwrap_or_default().to_owned();
    assert!(first.contains("/facts/2.md") && first.contains("memstore_"), "{shown}");
    assert!(shown.contains("Tomas gets a rash") && !shown.contains('\u{1b}'), "{shown}");
    let args = ["search", FACTS[0].1, "--store", "notes", "--wait", "--mode", "semantic"];
    let found = loci.json(&args);
    assert!(paths(&found).iter().take(3).any(|path| path == "/facts/0.md"), "{found}");
    assert_eq!(found["is_complete"], true, "{found}");

    let everywhere = paths(&loci.json(&["search", "barn"]));
    assert!(everywhere.contains(&"/x.md".to_owned()), "{everywhere:?}");
    let here = paths(&loci.json(&["search", "barn", "--store", "notes"]));
    assert!(!here.contains(&"/x.md".to_owned()), "{here:?}");
    // Neighbours may follow what has the word, but nothing from elsewhere.
    let lexical = paths(&loci.json(&["search", "barn", "--mode", "lexical", "--prefix", "/facts"]));
    assert_eq!(lexical[0], "/facts/0.md");
    assert!(lexical.iter().all(|path| path.starts_with("/facts/")), "{lexical:?}");
    let limited = loci.json(&["search", "the", "office", "bridge", "--limit", "1"]);
    assert_eq!(paths(&limited).len(), 1);
    let explained = text(&loci.ok(&["search", "peanuts", "--explain", "--store", "notes"]));
    assert!(explained.contains("words ") && explained.contains("fused"), "{explained}");
    let past = loci.json(&["search", "barn", "--store", "notes", "--as-of", "1"]);
    assert_eq!(paths(&past), ["/facts/0.md"]);
    // What looks like an operator is a query like any other.
    assert!(!paths(&loci.json(&["search", "barn", "AND", "\"", "(", "*"])).is_empty());

    for (args, code) in [
        (&["search", "x", "--store", "no-such-store"][..], NOT_FOUND),
        (&["search"], USAGE),
        (&["search", "x", "--mode", "psychic"], USAGE),
        (&["search", " "], FAILURE),
        (&["search", "x", "--limit", "0"], FAILURE),
        (&["search", "x", "--as-of", "yesterday"], FAILURE),
        (&["duplicates", "no-such-store"], NOT_FOUND),
    ] {
        let ended = loci.run(args).expect_code(code, args);
        assert!(!ended.stderr.trim().is_empty(), "{args:?} fails without a word");
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }

    loci.ok(&["put", "notes", "/again.md", "--text", FACTS[3].0]);
    let report = text(&loci.ok(&["duplicates", "notes"]));
    assert!(report.starts_with("the same\n"), "{report}");
    assert!(report.contains("/facts/3.md") && report.contains("/again.md"), "{report}");
    let report = loci.json(&["duplicates", "notes"]);
    assert_eq!(report["exact"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(text(&loci.ok(&["duplicates", "other"])), "");
    loci.ok(&["check"]);
    loci.ok(&["doctor"]);
}

#[test]
fn searching_an_idle_data_directory() {
    let setup = Setup::new();
    tour(&Loci::on_data(setup.data()));
}

#[test]
fn searching_beside_a_running_server() {
    let setup = Setup::new();
    let server = setup.start();
    tour(&Loci::on_data(setup.data()));
    server.stop();
}

#[test]
fn searching_a_server_by_url() {
    let setup = Setup::new();
    let server = setup.start();
    tour(&Loci::on_url(&server.url(), ADMIN_KEY));
    server.stop();
}

#[test]
fn an_evaluation_touches_nobodys_data_and_names_what_is_wrong_with_its_file() {
    let setup = Setup::new();
    let loci = Loci::on_data(setup.data());
    loci.ok(&["put", "notes", "/mine", "--text", "untouched", "--create-store"]);
    let before = loci.ok(&["export", "-"]);
    // Its `--data` is the file: it needs no directory.
    let alone = Loci::default();
    let file = setup.scratch().join("tiny.json");
    let path = file.to_str().unwrap();
    let data = json!({"name": "tiny", "conversations": [{
        "idx": 0, "sample_id": "c", "memories": [
            {"id": "m1", "path": "/1", "content": FACTS[0].0},
            {"id": "m2", "path": "/2", "content": FACTS[1].0},
        ],
        "questions": [
            {"qid": "q1", "question": "bees barn", "category": 1, "evidence": ["m1"]},
        ],
    }]});
    fs::write(&file, data.to_string()).unwrap();
    let shown = text(&alone.ok(&["eval", "--data", path, "--mode", "lexical"]));
    assert!(shown.contains("| all | 1 | 100.0 |"), "{shown}");
    alone.ok(&["eval", "--data", path, "--fail-under", "R@5=1", "--fail-under", "MRR=0.9"]);
    let args = ["eval", "--data", path, "--mode", "lexical", "--categories", "2"];
    let _ = alone.run(&args).expect_code(FAILURE, &args);

    let mut hard = data.clone();
    hard["conversations"][0]["questions"][0]["evidence"] = json!(["m2"]);
    fs::write(&file, hard.to_string()).unwrap();
    let args = ["eval", "--data", path, "--mode", "lexical", "--fail-under", "R@1=0.5"];
    let ended = alone.run(&args).expect_code(FAILURE, &args);
    assert!(ended.stderr.contains("below goal: R@1"), "{}", ended.stderr);

    for (bytes, reason) in [
        (&b"not json"[..], "line 1"),
        (br#"{"conversations": 7}"#, "line 1"),
        (br#"{"conversations": []}"#, "no question"),
    ] {
        fs::write(&file, bytes).unwrap();
        let args = ["eval", "--data", path];
        let ended = alone.run(&args).expect_code(FAILURE, &args);
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    let _ = alone.run(&["eval"]).expect_code(USAGE, &["eval"]);
    let args = ["eval", "--data", "/nonexistent.json"];
    let _ = alone.run(&args).expect_code(FAILURE, &args);
    let args = ["eval", "--data", path, "--depth", "1000"];
    let ended = alone.run(&args).expect_code(USAGE, &args);
    assert!(ended.stderr.contains("--depth"), "{}", ended.stderr);
    assert!(loci.ok(&["export", "-"]) == before, "an evaluation changed the data");
}
