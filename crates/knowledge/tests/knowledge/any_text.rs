//! Promise: no text makes the extractor panic or take long, and whatever it claims lies in the text.

use loci_knowledge::claim::Utterance;
use loci_knowledge::extract::extract;
use loci_model::Timestamp;
use loci_test_kit::{count, property_seed, timing_budgets};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::time::{Duration, Instant};

/// Words that mean something to the rules, so that random texts reach far into them.
const WORDS: &[&str] = &[
    "I",
    "I'm",
    "my",
    "sister",
    "Ana",
    "work",
    "at",
    "Google",
    "and",
    ",",
    ".",
    "?",
    "not",
    "don't",
    "since",
    "2019",
    "for",
    "3",
    "years",
    "used",
    "to",
    "live",
    "in",
    "Berlin",
    "\"",
    "(",
    ")",
    "is",
    "a",
    "nurse",
    "the",
    "of",
    "from",
    "March",
    "if",
    "who",
    "that",
    "moved",
    "been",
    "like",
    "love",
    "favourite",
    "user",
    "'s",
    "named",
    "Rex",
    "dog",
    "last",
    "week",
    "\n",
    "-",
    ":",
    "’",
    "é",
    "🙂",
    "any",
    "more",
    "no",
    "longer",
    "every",
    "day",
    "31/12/2020",
    "May",
    "learning",
    "with",
    "stress",
    "by",
    "running",
    "`",
    "next",
    "ago",
    "two",
    "until",
    "between",
    "end",
    "mid",
    "as",
    "well",
];

fn check(text: &str, at: i64) {
    let at = Timestamp::from_micros(at);
    let claims = extract(Utterance { speaker: "Maya", at, text });
    for claim in &claims {
        assert!(text.get(claim.span.clone()).is_some(), "{claim:?}");
        assert!(!claim.object.name.is_empty() && !claim.subject.name.is_empty());
        assert!((0.0..=1.0).contains(&claim.confidence));
    }
    assert_eq!(claims, extract(Utterance { speaker: "Maya", at, text }), "the same twice");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: count("any_text_cases") as u32, failure_persistence: None, rng_seed: RngSeed::Fixed(property_seed("any text")), ..ProptestConfig::default() })]

    #[test]
    fn any_string_at_any_time(text in "\\PC{0,200}", at in any::<i64>()) {
        check(&text, at);
    }

    #[test]
    fn any_words_in_any_order(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        check(&words.join(" "), 1_773_133_200_000_000);
    }
}

#[test]
fn long_texts_take_no_longer_than_they_are() {
    let at = Timestamp::from_micros(1_773_133_200_000_000);
    for piece in [
        "I live in Berlin and I work at SAP. ",
        "really ",
        "and ",
        "I ",
        "\"",
        "'",
        "a, ",
        "my sister ",
        "in March ",
        "(",
        "x",
        "\n",
        "the user ",
        "not ",
        "if ",
        "I like tea and ",
        "`a",
        "🙂",
        "1/",
        "- ",
        "used to ",
        "of ",
        "mid ",
        "every ",
        "“",
        "I'm 'a ",
        "I use ",
    ] {
        let text = piece.repeat(100 * 1024 / piece.len());
        let start = Instant::now();
        let _ = extract(Utterance { speaker: "Maya", at, text: &text });
        let took = start.elapsed();
        let limit = if timing_budgets() { 600 } else { 30_000 };
        assert!(took < Duration::from_millis(limit), "{piece:?}: {took:?}");
    }
}
