//! Promise: of what is said in chat, what is read is right, and what is not said as a fact is left
//! alone. The sets are written by hand (`sentences/`); the floors are a little under what was reached.

#![allow(clippy::print_stdout, reason = "the figures are the result")]

use loci_knowledge::claim::{Claim, Utterance};
use loci_knowledge::extract::extract;
use loci_model::Timestamp;
use std::collections::BTreeMap;

const AT: &str = "2026-03-10T09:00:00Z";
const SPEAKER: &str = "Maya";
/// The least share of what is read that must be right.
const PRECISION_MIN: f64 = 0.95;

/// A fact as the sets write it, names without case and articles.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fact {
    subject: String,
    relation: String,
    object: String,
    is_negated: bool,
    valid_at: Option<String>,
    invalid_at: Option<String>,
}

struct Message {
    class: String,
    text: String,
    facts: Vec<Fact>,
}

#[derive(Default, Clone, Copy)]
struct Tally {
    right: usize,
    wrong: usize,
    missed: usize,
    silent: usize,
    kept_silent: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
        self.silent += other.silent;
        self.kept_silent += other.kept_silent;
    }

    fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

fn plain(name: &str) -> String {
    let name = name.to_lowercase().replace('’', "'");
    let name = name.trim_matches(['.', '"', ' ']);
    let bare = ["the ", "a ", "an "].iter().find_map(|article| name.strip_prefix(article));
    bare.unwrap_or(name).to_owned()
}

fn moment(day: &str) -> Option<String> {
    match day {
        "" => None,
        "now" => Some(Timestamp::parse(AT).expect("a time that is right").to_string()),
        day => Some(
            Timestamp::parse(&format!("{day}T00:00:00Z"))
                .expect("a time that is right")
                .to_string(),
        ),
    }
}

fn fact(text: &str) -> Fact {
    let (text, times) = text.split_once(" @").unwrap_or((text, ".."));
    let (from, to) = times.split_once("..").expect("from..to");
    let (subject, rest) = text.split_once(": ").unwrap_or((SPEAKER, text));
    let (relation, object) = rest.trim().split_once(' ').expect("a relation and an object");
    let (relation, is_negated) = match relation.strip_prefix('-') {
        Some(relation) => (relation, true),
        None => (relation, false),
    };
    Fact {
        subject: plain(subject),
        relation: relation.to_owned(),
        object: plain(object),
        is_negated,
        valid_at: moment(from.trim()),
        invalid_at: moment(to.trim()),
    }
}

fn messages(set: &str) -> Vec<Message> {
    let mut class = String::new();
    let mut found = Vec::new();
    for line in set.lines().filter(|line| !line.starts_with("# ") && !line.is_empty()) {
        if let Some(heading) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            heading.clone_into(&mut class);
            continue;
        }
        let (text, facts) = line.split_once(" => ").unwrap_or((line, ""));
        let facts = facts.split(';').map(str::trim).filter(|text| !text.is_empty()).map(fact);
        let text = text.replace("\\n", "\n");
        found.push(Message { class: class.clone(), text, facts: facts.collect() });
    }
    found
}

fn read(text: &str) -> Vec<Fact> {
    let at = Timestamp::parse(AT).expect("a time that is right");
    let as_fact = |claim: &Claim| Fact {
        subject: plain(&claim.subject.name),
        relation: claim.relation.name().to_owned(),
        object: plain(&claim.object.name),
        is_negated: claim.is_negated,
        valid_at: claim.valid_at.map(|at| at.to_string()),
        invalid_at: claim.invalid_at.map(|at| at.to_string()),
    };
    extract(Utterance { speaker: SPEAKER, at, text }).iter().map(as_fact).collect()
}

/// Naming a friend or relative is right whether or not the set has it.
fn is_neutral(fact: &Fact) -> bool {
    fact.relation == "Knows"
}

fn score(message: &Message) -> Tally {
    let mut tally = Tally::default();
    let mut left = message.facts.clone();
    let read = read(&message.text);
    for fact in &read {
        match left.iter().position(|expected| expected == fact) {
            Some(place) => {
                left.remove(place);
                tally.right += 1;
            }
            None if is_neutral(fact) => {}
            None => {
                tally.wrong += 1;
                println!("WRONG  [{}] {:?}\n       {fact:?}", message.class, message.text);
            }
        }
    }
    for fact in &left {
        println!("MISSED [{}] {:?}\n       {fact:?}", message.class, message.text);
    }
    tally.missed += left.len();
    if message.facts.is_empty() {
        tally.silent += 1;
        tally.kept_silent += usize::from(read.iter().all(is_neutral));
    }
    tally
}

fn measure(name: &str, set: &str) -> Tally {
    let messages = messages(set);
    let mut classes: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    for message in &messages {
        let tally = score(message);
        classes.entry(&message.class).or_default().add(tally);
        all.add(tally);
    }
    println!("{name}: {} messages", messages.len());
    for (class, tally) in classes.iter().chain([(&"all", &all)]) {
        println!(
            "{class:14} precision {:.3}  recall {:.3}  silent {}/{}",
            tally.precision(),
            tally.recall(),
            tally.kept_silent,
            tally.silent
        );
    }
    all
}

#[test]
fn the_sets_are_read_as_they_should_be() {
    let sets = [
        ("first", include_str!("sentences/first.txt"), 0.95),
        ("second", include_str!("sentences/second.txt"), 0.95),
        ("third", include_str!("sentences/third.txt"), 0.95),
        ("fourth", include_str!("sentences/fourth.txt"), 0.9),
        ("fifth", include_str!("sentences/fifth.txt"), 0.9),
        ("names", include_str!("sentences/names.txt"), 0.95),
    ];
    // The last is the least share of what is said that must be read.
    for (name, set, recall_min) in sets {
        let tally = measure(name, set);
        assert!(tally.precision() >= PRECISION_MIN, "{name}: precision {}", tally.precision());
        assert!(tally.recall() >= recall_min, "{name}: recall {}", tally.recall());
    }
}
