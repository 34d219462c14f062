//! Promise: moving a large store to PostgreSQL takes a time in proportion to its size. A statement that
//! reads the whole store for each memory makes minutes of it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use loci_it::{Cluster, Loci, Setup, budget, count, sha256};
use serde_json::{Value, json};

use crate::transfer::{moved, text};

/// What a hundred thousand memories may take on a machine that does nothing else.
const LIMIT: Duration = Duration::from_secs(30);
/// How often it is tried: other tests run at the same time.
const TRIES: usize = 3;

/// A directory with one store of so many memories, by way of an import.
fn filled(setup: &Setup, memories: usize) -> std::path::PathBuf {
    let loci = Loci::on_data(setup.data());
    loci.ok(&["put", "large", "/a", "--text", "x", "--create-store"]);
    let exported = String::from_utf8(loci.ok(&["export", "-"])).unwrap();
    let mut lines: Vec<String> = Vec::with_capacity(memories + 8);
    for line in exported.lines() {
        let one: Value = serde_json::from_str(line).unwrap();
        match one["type"] == "version" {
            false => lines.push(line.to_owned()),
            true => lines.extend((0..memories).map(|number| version(&one, number))),
        }
    }
    let file = setup.scratch().join("large.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let data = setup.scratch().join("large");
    Loci::on_data(&data).ok(&["import", text(&file)]);
    data
}

fn version(like: &Value, number: usize) -> String {
    let content = format!("note {number} about things that happened").repeat(6);
    let (minutes, seconds) = (number / 60_000, number / 1000 % 60);
    let mut version = like.clone();
    version["seq"] = json!(number + 1);
    version["id"] = json!(format!("memver_01{number:022}"));
    version["memory"] = json!(format!("mem_01{number:022}"));
    version["path"] = json!(format!("/directory {}/file {number}", number % 1000));
    version["sha256"] = json!(sha256(&content));
    version["text"] = json!(content);
    let moment = format!("2026-01-01T00:{minutes:02}:{seconds:02}.{:06}Z", number % 1000);
    version["created_at"] = json!(moment);
    version.to_string()
}

#[test]
fn a_large_store_moves_to_postgresql_in_time() {
    let memories = count("move_memories");
    let setup = Setup::new();
    let from = filled(&setup, memories);
    let mut best = Duration::MAX;
    for _ in 0..TRIES {
        let cluster = Cluster::fresh();
        let took = timed(&from, &cluster, memories);
        eprintln!("{memories} memories moved in {took:.1?}");
        best = best.min(took);
        if best < budget(LIMIT) {
            return;
        }
    }
    panic!("{memories} memories take {best:?}");
}

fn timed(from: &Path, to: &Cluster, memories: usize) -> Duration {
    let began = Instant::now();
    let told = moved(text(from), &to.url(), &[]);
    let took = began.elapsed();
    assert_eq!((&told["memories"], &told["equal"]), (&json!(memories), &json!(true)));
    took
}
