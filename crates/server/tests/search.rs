//! The commands that search and measure, run as a user runs them: on a data directory, without a
//! server and without a network.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Questions of our own with answers that can be seen at a glance.
const QUESTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/island.json");

/// Runs `loci` with everything it could touch inside `world`.
fn loci(world: &Path, args: &[&str]) -> Output {
    let scratch = world.join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    Command::new(env!("CARGO_BIN_EXE_loci"))
        .args(args)
        .env_clear()
        .env("HOME", world)
        .env("LOCI_DATA", world.join("data"))
        .env("TMPDIR", &scratch)
        .output()
        .unwrap()
}

#[track_caller]
fn ok(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_str(&ok(output)).unwrap()
}

#[test]
fn an_evaluation_prints_figures_that_can_be_counted_by_hand() {
    let world = tempfile::tempdir().unwrap();
    let lexical = ["eval", "--data", QUESTIONS, "--mode", "lexical"];
    let printed = ok(&loci(world.path(), &lexical));
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("memories 6, indexed in "), "{printed}");
    assert!(lines[0].contains("; 4 questions; search p50 "), "{printed}");
    assert!(lines[0].ends_with("; scope per-conversation; mode lexical"), "{printed}");
    // Three questions have all their evidence in front, the fourth has words that are nowhere.
    let expect = [
        "| all | 4 | 75.0 | 75.0 | 75.0 | 75.0 | 75.0 | 75.0 | 75.0 | 75.0 | 75.0 |",
        "| category 1 | 3 | 66.7 | 66.7 | 66.7 | 66.7 | 66.7 | 66.7 | 66.7 | 66.7 | 66.7 |",
        "| category 2 | 1 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |",
        "| conversation 0 | 2 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 |",
        "| conversation 1 | 2 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 | 50.0 |",
    ];
    assert_eq!(lines[3..], expect);
    assert!(!world.path().join("data").exists(), "the user's directory is not touched");
    assert_eq!(fs::read_dir(world.path().join("scratch")).unwrap().count(), 0, "nothing is left");

    let merged = [&lexical[..], &["--scope", "merged", "--limit", "1", "--json"]].concat();
    let report = json(&loci(world.path(), &merged));
    assert_eq!((&report["type"], &report["scope"]), (&"evaluation".into(), &"merged".into()));
    let asked: Vec<&str> = report["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|q| q["qid"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["h-q1", "g-q1"]);
    assert_eq!(report["sets"][0]["figures"]["R@10"], 1.0);
}

#[test]
fn an_evaluation_fails_when_a_goal_is_missed_or_the_request_makes_no_sense() {
    let world = tempfile::tempdir().unwrap();
    let code = |more: &[&str]| {
        let args = [&["eval", "--data", QUESTIONS, "--mode", "lexical"], more].concat();
        loci(world.path(), &args).status.code()
    };
    assert_eq!(code(&["--fail-under", "R@10=0.75", "--fail-under", "MRR=0.7"]), Some(0));
    assert_eq!(code(&["--fail-under", "R@10=0.76"]), Some(1));
    assert_eq!(code(&["--fail-under", "R@10=76"]), Some(2));
    assert_eq!(code(&["--depth", "101"]), Some(2));
    assert_eq!(code(&["--fusion", "rrf", "--lexical-weight", "0.5"]), Some(2));
    assert_eq!(code(&["--categories", "9"]), Some(1));
    assert_eq!(code(&["--categories", "5"]), Some(1), "a question without evidence");
    assert_eq!(code(&["--data", "/nowhere.json"]), Some(1));
}

#[test]
fn commands_search_a_directory_by_word() {
    let world = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| loci(world.path(), args);
    let put = |path: &str, text: &str| {
        ok(&run(&["put", "notes", path, "--text", text, "--create-store"]));
    };
    put("/a/ferry.md", "The ferry leaves at nine");
    put("/b/violin.md", "Ines repairs violins");
    put("/c/violin.md", "Ines repairs violins");

    let by_word = ["search", "ferry", "times?", "--mode", "lexical"];
    let shown = ok(&run(&by_word));
    let mut lines = shown.lines();
    let first = lines.next().unwrap();
    assert!(first.contains("  /a/ferry.md  (memstore_"), "{shown}");
    assert_eq!(lines.next().unwrap().trim(), "The ferry leaves at nine");
    assert!(!shown.contains('\x1b'), "only a terminal is spoken to in colours");

    let narrowed = [&by_word[..], &["--store", "notes", "--prefix", "/b", "--json"]].concat();
    let answer = json(&run(&narrowed));
    assert_eq!(answer["data"].as_array().unwrap().len(), 0, "{answer}");
    let past = [&by_word[..], &["--store", "notes", "--as-of", "2001-01-01T00:00:00Z"]].concat();
    assert_eq!(ok(&run(&past)), "");
    let explained = [&by_word[..], &["--explain"]].concat();
    assert!(ok(&run(&explained)).contains("words "), "{shown}");

    let report = ok(&run(&["duplicates", "notes"]));
    assert!(report.starts_with("the same\n"), "{report}");
    assert!(report.contains("/b/violin.md") && report.contains("/c/violin.md"), "{report}");

    assert_eq!(run(&["search", "x", "--store", "nowhere"]).status.code(), Some(3));
    assert_eq!(run(&["search"]).status.code(), Some(2));
    assert_eq!(run(&["search", "x", "--limit", "101"]).status.code(), Some(1));
}

#[cfg(feature = "builtin-model")]
#[test]
fn commands_search_a_directory_by_meaning() {
    let world = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| loci(world.path(), args);
    for (path, text) in [
        ("/a/boat.md", "The boat to the mainland sails at dawn"),
        ("/b/violin.md", "Ines repairs string instruments"),
    ] {
        ok(&run(&["put", "notes", path, "--text", text, "--create-store"]));
    }
    let made = json(&run(&["reembed", "--json"]));
    assert_eq!((&made["stores_behind"], &made["type"]), (&0.into(), &"embedding".into()));
    assert!(made["model"].is_string());
    let wanted = ["search", "who fixes fiddles?", "--mode", "semantic", "--wait", "--json"];
    let answer = json(&run(&wanted));
    assert_eq!(answer["data"][0]["path"], "/b/violin.md");
    assert_eq!(answer["is_complete"], true);
    let begun = ok(&run(&["reembed", "--no-wait"]));
    assert!(begun.contains("made anew"), "{begun}");

    let report = json(&run(&["eval", "--data", QUESTIONS, "--json"]));
    assert_eq!((&report["mode"], &report["model"]), (&"hybrid".into(), &made["model"]));
    assert!(report["sets"][0]["figures"]["R@10"].as_f64().unwrap() >= 0.75);
}
