//! The leg by word against the definition: every number of BM25 counted anew for every document by
//! walking over all texts, on random small collections; and indexes that were changed many times
//! against indexes made at once from what is left.

use super::*;
use crate::index::fixture::{memory, with_tags};
use crate::index::{WINDOW_NEXT, WINDOW_OWN, WINDOW_PREVIOUS, WINDOW_TWO_AWAY};
use crate::rank::tally::{B, NAME_TENTHS};
use crate::text::word_passages;
use loci_model::{Memory, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;

const WORDS: [&str; 7] = ["tea", "cup", "river", "lamp", "cat", "violin", "green"];

/// One memory: directory, number in it, words, and a tag.
type Drawn = (usize, usize, Vec<usize>, Option<usize>);

fn drawn() -> impl Strategy<Value = Drawn> {
    let short = prop::collection::vec(0..WORDS.len(), 0..8);
    let long = prop::collection::vec(0..WORDS.len(), 100..400);
    let words = prop_oneof![6 => short, 1 => long];
    (0..2usize, 0..20usize, words, prop::option::of(0..WORDS.len()))
}

fn made(n: u128, (directory, number, words, tag): &Drawn) -> Memory {
    let text: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
    let path = format!("/dir{directory}/turn_{number}.md");
    let tags: Vec<&str> = tag.iter().map(|tag| WORDS[*tag]).collect();
    with_tags(memory(n, &path, &text.join(" ")), &tags)
}

/// Memories at different paths, with ids from 1 on.
fn memories(drawn: &[Drawn]) -> Vec<Memory> {
    let mut by_path: BTreeMap<(usize, usize), &Drawn> = BTreeMap::new();
    for one in drawn {
        by_path.entry((one.0, one.1)).or_insert(one);
    }
    // In the order drawn, not in that of paths.
    let is_kept = |one: &&Drawn| std::ptr::eq(by_path[&(one.0, one.1)], *one);
    (1..).zip(drawn.iter().filter(is_kept)).map(|(n, one)| made(n, one)).collect()
}

fn text(memory: &Memory) -> &str {
    memory.content.as_ref().unwrap().text().unwrap()
}

fn is_short(memory: &Memory) -> bool {
    text(memory).chars().count() <= crate::index::SHORT_CHARS_MAX
}

/// How often a word stands in a text.
fn times(text: &str, word: &str) -> f64 {
    text.split_whitespace().filter(|other| *other == word).count() as f64
}

/// A memory's short neighbours and what of their words is its too.
fn neighbours<'m>(all: &'m [Memory], of: &Memory) -> Vec<(&'m Memory, f64)> {
    let place = |memory: &Memory| -> (String, u32) {
        let (directory, name) = memory.path.as_str().rsplit_once('/').unwrap();
        let number = name.trim_start_matches("turn_").trim_end_matches(".md");
        (directory.to_owned(), number.parse().unwrap())
    };
    let mut siblings: Vec<&Memory> =
        all.iter().filter(|other| place(other).0 == place(of).0).collect();
    siblings.sort_by_key(|memory| place(memory).1);
    let at = siblings.iter().position(|other| other.id == of.id).unwrap();
    let tenth = |weight: u32| f64::from(weight) / f64::from(WINDOW_OWN);
    let around = [
        (at.checked_sub(1), tenth(WINDOW_PREVIOUS)),
        (Some(at + 1), tenth(WINDOW_NEXT)),
        (at.checked_sub(2), tenth(WINDOW_TWO_AWAY)),
        (Some(at + 2), tenth(WINDOW_TWO_AWAY)),
    ];
    let near = |(at, weight): (Option<usize>, f64)| {
        at.and_then(|at| siblings.get(at)).map(|memory| (*memory, weight))
    };
    around.into_iter().filter_map(near).filter(|(memory, _)| is_short(memory)).collect()
}

/// A piece of a memory: how often each word of the query counts in it, and how long it is.
fn pieces(all: &[Memory], of: &Memory, words: &[&str]) -> Vec<(Vec<f64>, f64)> {
    let tagged = |word: &str| of.attributes.tags.iter().filter(|tag| *tag == word).count() as f64;
    let name = f64::from(NAME_TENTHS) / f64::from(WINDOW_OWN);
    if !is_short(of) {
        let ranges = word_passages(text(of), crate::index::PIECE_WORDS);
        let piece = |piece: &str| {
            let counts = words.iter().map(|word| times(piece, word) + name * tagged(word));
            (counts.collect(), piece.split_whitespace().count() as f64)
        };
        return ranges.into_iter().map(|range| piece(&text(of)[range])).collect();
    }
    let around = neighbours(all, of);
    let count = |word: &str| {
        let lent: f64 =
            around.iter().map(|(memory, share)| share * times(text(memory), word)).sum();
        times(text(of), word) + lent + name * tagged(word)
    };
    let own = text(of).split_whitespace().count() as f64;
    let lent: f64 = around
        .iter()
        .map(|(memory, share)| share * text(memory).split_whitespace().count() as f64)
        .sum();
    vec![(words.iter().map(|word| count(word)).collect(), own + lent)]
}

/// BM25 of every memory that has any.
fn by_definition(all: &[Memory], words: &[&str]) -> BTreeMap<u128, f64> {
    let cut: Vec<_> = all.iter().map(|memory| (memory, pieces(all, memory, words))).collect();
    let every = || cut.iter().flat_map(|(_, pieces)| pieces);
    let count = every().count() as f64;
    let mean = (every().map(|(_, length)| length).sum::<f64>() / count).max(0.1);
    let idf = |word: usize| {
        let holding = every().filter(|(counts, _)| counts[word] > 0.0).count() as f64;
        (1.0 + (count - holding + 0.5) / (holding + 0.5)).ln()
    };
    let idfs: Vec<f64> = (0..words.len()).map(idf).collect();
    let (k1, b) = (f64::from(K1), f64::from(B));
    let score = |(counts, length): &(Vec<f64>, f64)| -> f64 {
        let part = |(tf, idf): (&f64, &f64)| {
            idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * length / mean))
        };
        counts.iter().zip(&idfs).map(part).sum()
    };
    let best = |pieces: &[(Vec<f64>, f64)]| {
        let by_chance = f64::from(LESS_PER_DOUBLING) * (pieces.len() as f64).max(1.0).log2();
        pieces.iter().map(score).fold(0.0, f64::max) * (1.0 - by_chance)
    };
    let scored = cut.iter().map(|(memory, pieces)| (memory.id.as_u128(), best(pieces)));
    scored.filter(|(_, score)| *score > 0.0).collect()
}

fn filled(memories: &[Memory]) -> StoreIndex {
    let mut index = StoreIndex::new();
    memories.iter().for_each(|memory| index.put(memory));
    index.settle();
    index
}

/// What the leg gives every memory, to the last bit.
fn by_index(index: &StoreIndex, query: &str) -> BTreeMap<u128, f32> {
    let leg = lexical_leg(&[index], &TextQuery::parse(query));
    let found = leg.found[0].iter();
    found.map(|(doc, score)| (index.doc(*doc).id.as_u128(), *score)).collect()
}

fn query() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(WORDS.to_vec(), 1..4)
}

proptest! {
    #[test]
    fn scores_are_those_of_the_definition(
        drawn in prop::collection::vec(drawn(), 1..14),
        words in query(),
    ) {
        let memories = memories(&drawn);
        let found = by_index(&filled(&memories), &words.join(" "));
        let expected = by_definition(&memories, &words);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (id, score) in found {
            let expected = expected[&id];
            let is_near = (f64::from(score) - expected).abs() <= 1e-4 * (1.0 + expected);
            prop_assert!(is_near, "{} scored {}, not {}", id, score, expected);
        }
    }

    #[test]
    fn a_changed_index_is_one_made_anew(
        drawn in prop::collection::vec(drawn(), 1..12),
        changes in prop::collection::vec((0..12u128, prop::option::of(drawn()), any::<bool>()), 1..30),
        words in query(),
    ) {
        let mut now: BTreeMap<u128, Memory> =
            memories(&drawn).into_iter().map(|memory| (memory.id.as_u128(), memory)).collect();
        let mut changed = filled(&now.values().cloned().collect::<Vec<_>>());
        for (n, change, is_settled) in changes {
            let n = n + 1;
            match change {
                Some(drawn) => {
                    let next = made(n, &drawn);
                    let path = next.path.as_str();
                    if now.values().any(|other| other.path.as_str() == path && other.id != next.id) {
                        continue;
                    }
                    changed.put(&next);
                    now.insert(n, next);
                }
                None => {
                    changed.remove(loci_model::MemoryId::from_u128(n));
                    now.remove(&n);
                }
            }
            if is_settled {
                changed.settle();
            }
        }
        changed.settle();
        let fresh = filled(&now.values().cloned().collect::<Vec<_>>());
        prop_assert_eq!(changed.len(), fresh.len());
        prop_assert_eq!(changed.sizes(), fresh.sizes());
        let query = words.join(" ") + " te* c*";
        prop_assert_eq!(by_index(&changed, &query), by_index(&fresh, &query));
    }
}

#[test]
fn what_is_gone_does_not_choose_what_a_prefix_means() {
    let words = |from: usize| -> String {
        (from..from + 80).map(|n| format!("pre{}{} ", letter(n / 26), letter(n % 26))).collect()
    };
    let (stays, goes) = (memory(1, "/a/x", &words(0)), memory(2, "/b/x", &words(200)));
    let mut index = filled(&[stays.clone(), goes.clone()]);
    for _ in 0..3 {
        index.put(&goes);
    }
    index.remove(goes.id);
    index.settle();
    assert_eq!(by_index(&index, "pre*"), by_index(&filled(&[stays]), "pre*"));
}

fn letter(n: usize) -> char {
    char::from(b'a' + (n % 26) as u8)
}

#[test]
fn words_are_named_in_the_order_of_the_query_whatever_else_there_was() {
    let mut index = filled(&[memory(1, "/a/x", "tea cup")]);
    for n in 2..5 {
        index.put(&memory(n, &format!("/b/{n}"), "tea"));
        index.remove(loci_model::MemoryId::from_u128(n));
    }
    index.settle();
    let leg = lexical_leg(&[&index], &TextQuery::parse("tea cup"));
    assert_eq!(leg.words_in(&index, 0), ["tea", "cup"]);
}

#[test]
fn expiry_takes_out_what_is_over_and_nothing_else() {
    let at = |secs: i64| Some(Timestamp::from_micros(secs * 1_000_000));
    let mut memories: Vec<Memory> =
        (1..=4).map(|n| memory(n, &format!("/a/{n}"), "tea cup")).collect();
    memories[0].attributes.expires_at = at(10);
    memories[1].attributes.expires_at = at(20);
    memories[2].attributes.expires_at = at(20);
    let mut index = filled(&memories);
    let now = Timestamp::from_micros(20_000_000);
    assert!(!index.has_expired(Timestamp::from_micros(9_999_999)));
    assert!(index.has_expired(Timestamp::from_micros(10_000_000)));
    // A new version lives longer.
    memories[1].attributes.expires_at = None;
    index.put(&memories[1]);
    index.expire(now);
    index.settle();
    let left = filled(&[memories[1].clone(), memories[3].clone()]);
    assert_eq!(by_index(&index, "tea"), by_index(&left, "tea"));
    assert!(!index.has_expired(now));
}

#[test]
fn compacting_changes_no_score() {
    let mut now: BTreeMap<u128, Memory> = BTreeMap::new();
    let mut index = StoreIndex::new();
    let mut state = 7u64;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut slots, mut was_compacted) = (0, false);
    for round in 0..6000 {
        let n = u128::from(next(300)) + 1;
        let words = (0..next(6)).map(|_| next(7) as usize).collect();
        let drawn = ((n % 2) as usize, n as usize, words, None);
        if next(5) == 0 {
            now.remove(&n);
            index.remove(loci_model::MemoryId::from_u128(n));
        } else {
            let memory = made(n, &drawn);
            index.put(&memory);
            now.insert(n, memory);
        }
        if round % 50 == 0 {
            index.settle();
            index.make_compact();
            was_compacted |= index.doc_slots() < slots;
            slots = index.doc_slots();
        }
    }
    index.settle();
    assert!(was_compacted, "{slots} documents were kept");
    let fresh = filled(&now.values().cloned().collect::<Vec<_>>());
    for query in ["tea", "cup river", "lamp cat violin", "v*"] {
        assert_eq!(by_index(&index, query), by_index(&fresh, query), "{query}");
    }
}

#[test]
fn the_floor_lets_about_as_many_through_as_are_wanted() {
    let found: Vec<(u32, f32)> = (0..10_000).map(|n| (n, 1.0 + (n % 500) as f32)).collect();
    let leg = LexicalLeg { found: vec![found.clone(), found], ..LexicalLeg::nothing(2) };
    assert_eq!(leg.floor(20_000), 0.0, "all of them");
    let floor = leg.floor(400);
    let above = leg.found.iter().flatten().filter(|(_, score)| *score >= floor).count();
    assert!((400..=480).contains(&above), "{above}");
    let equal: Vec<(u32, f32)> = (0..10_000).map(|n| (n, 3.0)).collect();
    let leg = LexicalLeg { found: vec![equal], ..LexicalLeg::nothing(1) };
    assert!(leg.floor(10) <= 3.0, "equals stay together");
}
