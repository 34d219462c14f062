//! The leg by meaning: what is picked out of many is what comparing all would have found best, and
//! rows of what is gone are never anybody's.

use super::*;
use crate::index::fixture::{memory, with_tags};
use crate::rank::Question;
use crate::text::TextQuery;
use crate::wanted::{SearchFilter, Wanted};
use loci_model::{MemoryId, Timestamp};

const DIMS: usize = 64;

/// Unit vectors around a few centres, as texts about a few topics are.
fn vector(state: &mut u64) -> Vec<f32> {
    let mut number = || {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from((*state >> 48) as u16) / 32_768.0 - 1.0
    };
    let numbers: Vec<f32> = (0..DIMS).map(|_| number()).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.into_iter().map(|number| number / length).collect()
}

/// Memories in directories of one, so that nobody has neighbours; every seventh has three passages.
fn filled(count: u128) -> StoreIndex {
    let mut index = StoreIndex::new();
    (1..=count).for_each(|n| index.put(&memory(n, &format!("/{n}/x"), &format!("text {n}"))));
    index.settle();
    index.begin_vectors(1, DIMS);
    let mut state = 5;
    for (id, head) in index.without_vectors() {
        let passages = if id.as_u128().is_multiple_of(7) { 3 } else { 1 };
        let vectors: Vec<Vec<f32>> = (0..passages).map(|_| vector(&mut state)).collect();
        index.set_vectors(id, head, &vectors);
    }
    index
}

/// Runs the leg on one index, with everything or only what has a tag.
fn ask(
    index: &StoreIndex,
    query: Option<&QueryVector>,
    (scope, tag): (Scope, Option<&str>),
    also: &[u32],
) -> DenseLeg {
    let tags = tag.iter().map(|tag| (*tag).to_owned()).collect();
    let wanted =
        Wanted { filter: SearchFilter { tags, ..SearchFilter::default() }, ..Wanted::new("", 1) };
    let (query_words, now) = (TextQuery::parse(""), Timestamp::from_micros(0));
    let question = Question {
        wanted: &wanted,
        query: &query_words,
        is_strict: false,
        authors: &[],
        trust: 1.0,
        now,
        depth: 1,
    };
    let indexes = [index];
    let mut gate = Gate::new(&indexes, &question);
    gate.decide_all();
    dense_leg(&[(index, query)], &gate, scope, vec![also.to_vec()])
}

fn best(similar: &Similar, index: &StoreIndex, count: usize) -> Vec<(u128, u32)> {
    let known = index.live().filter_map(|number| {
        let doc = index.doc(number);
        similar.of(index, number).map(|likeness| (doc.id.as_u128(), likeness.own))
    });
    let mut known: Vec<(u128, f32)> = known.collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    known.into_iter().take(count).map(|(id, own)| (id, own.to_bits())).collect()
}

#[test]
fn what_is_picked_is_what_would_be_best() {
    let mut index = filled(4000);
    (1..=4000).step_by(3).for_each(|n| index.remove(MemoryId::from_u128(n)));
    index.settle();
    let mut state = 99;
    let (mut agree, mut asked) = (0, 0);
    for _ in 0..20 {
        let query = QueryVector::new(&vector(&mut state));
        let among = index.vectors().row_count();
        let whole = ask(&index, Some(&query), (Scope::Whole, None), &[]);
        let picked = ask(&index, Some(&query), (Scope::Picked { among }, None), &[]);
        let (all, some) =
            (best(&whole.similar[0], &index, 10), best(&picked.similar[0], &index, 10));
        asked += all.len();
        agree += all.iter().filter(|one| some.contains(one)).count();
        assert!(all.iter().all(|(id, _)| id % 3 != 1), "what is gone is not compared");
        // The least is only about right, but far from the best.
        assert!((-1.0..0.0).contains(&picked.sampled_least), "{}", picked.sampled_least);
    }
    assert!(agree * 100 >= asked * 90, "{agree} of {asked}");
}

#[test]
fn what_words_found_is_compared_in_any_case() {
    let index = filled(3000);
    let mut state = 4;
    let query = QueryVector::new(&vector(&mut state));
    let among = index.vectors().row_count();
    let also: Vec<u32> = (0..1000).collect();
    let picked = ask(&index, Some(&query), (Scope::Picked { among }, None), &also);
    let whole = ask(&index, Some(&query), (Scope::Whole, None), &[]);
    for doc in 0..1000 {
        assert_eq!(picked.similar[0].own(doc), whole.similar[0].own(doc), "{doc}");
    }
}

#[test]
fn a_filter_is_applied_before_anything_is_picked() {
    let mut index = StoreIndex::new();
    let rare = |n: u128| n.is_multiple_of(500);
    for n in 1..=5000 {
        let tags: &[&str] = if rare(n) { &["rare"] } else { &[] };
        index.put(&with_tags(memory(n, &format!("/{n}/x"), "text"), tags));
    }
    index.settle();
    index.begin_vectors(1, DIMS);
    let (mut state, mut query) = (5, Vec::new());
    for (id, head) in index.without_vectors() {
        let vector = vector(&mut state);
        index.set_vectors(id, head, std::slice::from_ref(&vector));
        query = vector;
    }
    let query = QueryVector::new(&query);
    let all = ask(&index, Some(&query), (Scope::Whole, None), &[]);
    // Ten of five thousand: whichever way they are looked for, all of them are compared.
    for scope in [Scope::Passing, Scope::Picked { among: 10 }] {
        let some = ask(&index, Some(&query), (scope, Some("rare")), &[]);
        for doc in (0..5000).filter(|doc| rare(u128::from(*doc) + 1)) {
            assert_eq!(some.similar[0].own(doc), all.similar[0].own(doc), "{doc} {scope:?}");
        }
        let Similar::Some(docs, _) = &some.similar[0] else { panic!("only some are compared") };
        assert_eq!(docs.len(), 10, "nothing else is");
    }
}

#[test]
fn the_best_of_many_passages_owes_something_to_chance() {
    let mut index = StoreIndex::new();
    index.put(&memory(1, "/a", "two passages"));
    index.put(&memory(2, "/b", "one passage"));
    index.settle();
    index.begin_vectors(1, 2);
    for (id, head) in index.without_vectors() {
        let passages: &[Vec<f32>] = &[vec![1.0, 0.0], vec![-1.0, 0.0]];
        let count = if id.as_u128() == 1 { 2 } else { 1 };
        index.set_vectors(id, head, &passages[..count]);
    }
    let query = QueryVector::new(&[1.0, 0.0]);
    for scope in [Scope::Whole, Scope::Picked { among: 3 }] {
        let leg = ask(&index, Some(&query), (scope, None), &[]);
        let own = |doc| leg.similar[0].own(doc).unwrap();
        assert!((own(1) - 1.0).abs() < 0.02);
        assert!((own(1) - own(0) - LESS_PER_DOUBLING).abs() < 1e-6, "{scope:?}");
    }
}

#[test]
fn what_cannot_be_compared_is_not() {
    let index = filled(3);
    let short = QueryVector::new(&[1.0, 0.0, 0.0]);
    for query in [None, Some(&short)] {
        let leg = ask(&index, query, (Scope::Whole, None), &[]);
        assert!(matches!(leg.similar[0], Similar::Nothing));
    }
}
