//! The built-in model against the original: ids from its own tokenizer, vectors from its f32 weights
//! (see `model/reference.py`), and the promises about threads.

use loci_search::embed::{Builtin, Embedder, Purpose, WordPiece};
use loci_search::vector::{decode, dot};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const NOTICE: &str = include_str!("../../model/NOTICE");
const VOCABULARY: &str = include_str!("../../model/vocab.txt");
const TOKENS: &str = include_str!("tokens.json");
const SENTENCES: &str = include_str!("sentences.txt");
const VECTORS: &[u8] = include_bytes!("vectors.f16");
const DIMS: usize = 384;

/// One for all tests, as in a server: tests run at the same time, so this also shares it.
static MODEL: LazyLock<Builtin> = LazyLock::new(Builtin::new);

#[derive(Deserialize)]
struct TokenCase {
    text: String,
    ids: Vec<i32>,
}

fn embed_one(text: &str) -> Vec<f32> {
    MODEL.embed(&[text], Purpose::Query).unwrap().remove(0)
}

#[test]
fn what_is_in_the_binary_is_what_the_notice_names() {
    for bytes in [Builtin::weights(), VOCABULARY.as_bytes()] {
        let digest = hex::encode(Sha256::digest(bytes));
        assert!(NOTICE.contains(&format!("sha256 {digest}")), "{digest} is not in NOTICE");
    }
}

#[test]
fn tokens_are_those_of_the_models_own_tokenizer() {
    let tokenizer = WordPiece::new(VOCABULARY).unwrap();
    let cases: Vec<TokenCase> = serde_json::from_str(TOKENS).unwrap();
    assert!(cases.len() > 40);
    for TokenCase { text, ids } in cases {
        assert_eq!(tokenizer.encode(&text, 256), ids, "{text:?}");
    }
}

#[test]
fn vectors_are_those_of_the_original_model() {
    let sentences: Vec<&str> = SENTENCES.lines().collect();
    let reference = decode(VECTORS, DIMS).unwrap();
    assert_eq!(sentences.len(), reference.len());
    let vectors = MODEL.embed(&sentences, Purpose::Passage).unwrap();
    let cosines: Vec<f32> = vectors.iter().zip(&reference).map(|(a, b)| dot(a, b)).collect();
    let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
    let least = cosines.iter().copied().fold(1.0, f32::min);
    println!("cosine to the original: mean {mean}, least {least}");
    assert!(mean >= 0.999, "mean {mean}");
    assert!(least >= 0.997, "least {least}");
}

#[test]
fn a_text_has_the_same_vector_alone_and_in_a_batch() {
    let texts: Vec<&str> = SENTENCES.lines().take(5).chain([""]).collect();
    let together = MODEL.embed(&texts, Purpose::Passage).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(vector.len(), MODEL.dims());
        assert!((dot(vector, vector) - 1.0).abs() < 1e-5, "unit length");
        assert!(dot(&embed_one(text), vector) > 0.999_99, "{text}");
    }
}

#[test]
fn what_means_the_same_is_nearer_than_what_does_not() {
    let question = embed_one("What should I avoid when I cook for Mira?");
    let related = embed_one("Mira is allergic to peanuts and carries an adrenaline pen.");
    let unrelated = embed_one("The train to Kraków leaves at 06:42 from platform 9.");
    assert!(dot(&question, &related) > dot(&question, &unrelated) + 0.2);
}

#[test]
fn a_text_past_the_limit_is_cut_and_none_is_no_work() {
    let long = "alpha beta gamma ".repeat(500);
    let longer = format!("{long} and something else at the end");
    assert!(dot(&embed_one(&long), &embed_one(&longer)) > 0.999_99);
    assert_eq!(MODEL.tokens("alpha beta gamma"), 3);
    assert!(MODEL.embed(&[], Purpose::Query).unwrap().is_empty());
}

/// Niceness is a thread's own on Linux; the rest of the process must not be slowed down with it.
#[test]
#[cfg(target_os = "linux")]
fn only_the_threads_for_passages_stand_back() {
    MODEL.embed(&["a passage"], Purpose::Passage).unwrap();
    let niceness = |task: std::fs::DirEntry| -> Option<i64> {
        // A thread may end while we look. Its name, in brackets, may hold spaces.
        let stat = std::fs::read_to_string(task.path().join("stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(16)?.parse().ok()
    };
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let all: Vec<i64> = threads.filter_map(niceness).collect();
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!(all.iter().filter(|&&nice| nice == 15).count(), cores.min(4), "{all:?}");
    assert!(all.iter().filter(|&&nice| nice < 15).count() > 1, "{all:?}");
}
