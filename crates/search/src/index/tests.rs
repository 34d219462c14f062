//! Indexes under change: vectors that are kept, lost and taken over, and numbers that are given back.

use super::fixture::memory;
use super::*;
use loci_model::Content;

const DIMS: usize = 4;

fn one_vector(n: u32) -> Vec<Vec<f32>> {
    let mut vector = vec![0.0; DIMS];
    vector[n as usize % DIMS] = 1.0;
    vec![vector]
}

fn next_version(memory: &Memory, path: &str) -> Memory {
    let mut next = memory.clone();
    next.head = VersionId::from_u128(memory.head.as_u128() + 1000);
    next.path = loci_model::MemoryPath::parse(path).unwrap();
    next
}

#[test]
fn vectors_belong_to_the_version_they_were_made_from() {
    let first = memory(1, "/a", "tea");
    let mut index = StoreIndex::new();
    index.put(&first);
    index.settle();
    index.begin_vectors(1, DIMS);
    assert_eq!(index.without_vectors(), [(first.id, first.head)]);
    index.set_vectors(first.id, VersionId::from_u128(99), &one_vector(0));
    assert!(!index.has_all_vectors(), "of another version");
    index.set_vectors(first.id, first.head, &[vec![1.0]]);
    assert!(!index.has_all_vectors(), "of another model");
    index.set_vectors(first.id, first.head, &one_vector(0));
    assert!(index.has_all_vectors());

    // The same words elsewhere keep their vectors, other words do not.
    index.put(&next_version(&first, "/b"));
    index.settle();
    assert!(index.has_all_vectors());
    let changed = Memory { head: VersionId::from_u128(5), ..memory(1, "/b", "coffee") };
    index.put(&changed);
    index.settle();
    assert_eq!(index.without_vectors(), [(changed.id, changed.head)]);
    index.remove(changed.id);
    assert!(index.has_all_vectors() && index.is_empty());
}

#[test]
fn sealing_the_very_same_bytes_leaves_nothing_behind() {
    let text = memory(1, "/a", "tea");
    let mut sealed = next_version(&text, "/a");
    sealed.content = Some(Content::Sealed(b"tea".to_vec()));
    assert_eq!(sealed.digest, text.digest);
    for has_vectors in [false, true] {
        let mut index = StoreIndex::new();
        index.begin_vectors(1, DIMS);
        index.put(&text);
        if has_vectors {
            index.set_vectors(text.id, text.head, &one_vector(0));
        }
        index.put(&sealed);
        index.settle();
        assert!(index.is_empty() && index.has_all_vectors(), "{has_vectors}");
        assert!(index.without_vectors().is_empty());
    }
}

#[test]
fn vectors_stay_with_their_memories_when_numbers_are_given_back() {
    let mut index = StoreIndex::new();
    index.begin_vectors(1, DIMS);
    let mut slots_most = 0;
    for round in 0..12u128 {
        for n in 1..=300u128 {
            let text = format!("text {n} of round {round}");
            let memory = memory(n, &format!("/{}/{n}", n % 3), &text);
            let memory = Memory { head: VersionId::from_u128(round * 1000 + n), ..memory };
            index.put(&memory);
            if n % 5 != 0 {
                index.set_vectors(memory.id, memory.head, &one_vector(n as u32));
            }
        }
        index.settle();
        index.make_compact();
        slots_most = slots_most.max(index.doc_slots());
    }
    assert!(slots_most < 12 * 300, "nothing was given back");
    assert_eq!(index.len(), 300);
    assert_eq!(index.without_vectors().len(), 60);
    for number in index.live() {
        let doc = index.doc(number);
        let n = doc.id.as_u128() as u32;
        let rows = index.vectors().rows(number);
        assert_eq!(rows.len(), usize::from(!n.is_multiple_of(5)), "{n}");
        for row in rows {
            assert_eq!(index.vectors().doc_of(row), number);
            let query = crate::vector::QueryVector::new(&one_vector(n)[0]);
            let mut scores = Vec::new();
            index.vectors().matrix().unwrap().scores_of(&query, &[row], &mut scores);
            assert!(scores[0] > 0.99, "{n} has the vector of another");
        }
    }
}

#[test]
fn partitions_are_no_neighbours() {
    let mut index = StoreIndex::new();
    let owner = |n: u128| Some(loci_model::PrincipalId::from_u128(n));
    for (n, path, partition) in
        [(1, "/d/1", owner(1)), (2, "/d/2", owner(2)), (3, "/d/3", owner(1))]
    {
        index.put(&Memory { partition, ..memory(n, path, "tea") });
    }
    index.settle();
    // Each has one piece, numbered as it came.
    assert_eq!(index.around(0), [NONE, 2, NONE, NONE]);
    assert_eq!(index.around(2), [0, NONE, NONE, NONE]);
    assert_eq!(index.around(1), ALONE);
}

#[test]
fn what_an_index_takes_is_known_and_shrinks_when_compacted() {
    let mut index = StoreIndex::new();
    let empty = index.bytes();
    for n in 1..=3000u128 {
        index.put(&memory(n, &format!("/{n}"), &format!("word{n} and tea")));
    }
    index.settle();
    let full = index.bytes();
    assert!(full > empty + 3000 * 50);
    (1..=2900u128).for_each(|n| index.remove(MemoryId::from_u128(n)));
    index.settle();
    index.make_compact();
    assert!(index.bytes() < full / 5, "{} of {full}", index.bytes());
}
