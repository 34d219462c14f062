//! The leg by meaning: what is picked out of many is what comparing all would have found best, and
//! rows of what is gone are never anybody's.

use super::*;
use crate::index::fixture::memory;
use loci_model::MemoryId;

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

fn best(similar: &Similar, index: &StoreIndex, count: usize) -> Vec<(u128, u32)> {
    let known = index.live().filter_map(|number| {
        let doc = index.doc(number);
        similar.of(index, number).map(|(own, ..)| (doc.id.as_u128(), own))
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
        let parts = [(&index, Some(&query))];
        let rows = index.vectors().row_count();
        let whole = compare(&parts, rows, false, |_| Vec::new());
        let picked = compare(&parts, rows, true, |_| Vec::new());
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
    let parts = [(&index, Some(&query))];
    let rows = index.vectors().row_count();
    let picked = compare(&parts, rows, true, |_| (0..1000).collect());
    let whole = compare(&parts, rows, false, |_| Vec::new());
    for doc in 0..1000 {
        assert_eq!(picked.similar[0].own(doc), whole.similar[0].own(doc), "{doc}");
    }
}

#[test]
fn a_memory_is_as_near_as_its_nearest_passage() {
    let mut index = StoreIndex::new();
    index.put(&memory(1, "/a", "two passages"));
    index.settle();
    index.begin_vectors(1, 2);
    let (id, head) = index.without_vectors()[0];
    index.set_vectors(id, head, &[vec![-1.0, 0.0], vec![1.0, 0.0]]);
    let query = QueryVector::new(&[1.0, 0.0]);
    let leg = dense_leg(&[(&index, Some(&query))], |_| Vec::new());
    assert!((leg.similar[0].own(0).unwrap() - 1.0).abs() < 0.02);
    let other = QueryVector::new(&[1.0, 0.0, 0.0]);
    let leg = dense_leg(&[(&index, Some(&other)), (&index, None)], |_| Vec::new());
    assert!(leg.similar.iter().all(|similar| matches!(similar, Similar::Nothing)));
}
