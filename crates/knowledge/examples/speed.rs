//! How fast claims are read, beside the least anybody could do with the same text: splitting it into
//! words. Both run in alternation on the same sentences, and the median ratio is what counts.
//!
//! `cargo run --release -p loci-knowledge --example speed`

#![allow(clippy::print_stdout, reason = "this program talks to a person at a terminal")]
#![allow(clippy::disallowed_methods, reason = "it measures how long something takes")]

use loci_knowledge::claim::Utterance;
use loci_knowledge::extract::extract;
use loci_model::Timestamp;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 21;
/// How often the sentences are read in a round.
const REPEATS: usize = 20;
const SETS: &[&str] = &[
    include_str!("../tests/knowledge/sentences/first.txt"),
    include_str!("../tests/knowledge/sentences/second.txt"),
    include_str!("../tests/knowledge/sentences/third.txt"),
];

fn main() {
    let at = Timestamp::from_micros(1_773_133_200_000_000);
    let sentences: Vec<&str> = SETS
        .iter()
        .flat_map(|set| set.lines())
        .filter(|line| !line.starts_with(['#', '[']) && !line.is_empty())
        .map(|line| line.split(" => ").next().unwrap_or(line))
        .collect();
    let read = || {
        let claims =
            sentences.iter().map(|text| extract(Utterance { speaker: "Maya", at, text }).len());
        claims.sum::<usize>()
    };
    let split = || sentences.iter().map(|text| text.split_whitespace().count()).sum::<usize>();
    let claims = read();
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (time(read), time(split))).collect();
    rounds.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    let (reading, splitting) = rounds[ROUNDS / 2];
    let rate = |seconds: f64| (sentences.len() * REPEATS) as f64 / seconds;
    println!("{} messages, {claims} claims", sentences.len());
    println!("reading claims   {:>12.0} messages/s", rate(reading));
    println!("splitting words  {:>12.0} messages/s", rate(splitting));
    println!("reading takes {:.1} times as long as splitting", reading / splitting);
    let long = "I live in Berlin and I work at SAP. ".repeat(100 * 1024 / 36);
    let start = Instant::now();
    let count = extract(Utterance { speaker: "Maya", at, text: &long }).len();
    println!("100 KiB in {:.1} ms ({count} claims)", start.elapsed().as_secs_f64() * 1e3);
}

fn time(work: impl Fn() -> usize) -> f64 {
    let start = Instant::now();
    for _ in 0..REPEATS {
        black_box(work());
    }
    start.elapsed().as_secs_f64()
}
