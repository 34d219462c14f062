//! Telling near-duplicates apart from the merely similar, without a model.
//!
//! A text is the set of its three-word sequences, hashed; two texts are as alike as their sets
//! overlap. Sixty-four minima of a set estimate that overlap in a few bytes, to find candidates
//! among many. The hashing is our own and fixed: the same text has the same fingerprint everywhere.

use super::analyze::visit_words;
use std::ops::ControlFlow;

/// Words of one shingle.
const SHINGLE_WORDS: usize = 3;
/// Minima of one sketch; the estimate of an overlap is good to about 1/8.
pub const SKETCH_LEN: usize = 64;

/// The hashed three-word sequences of a text, sorted and distinct. Case, accents, punctuation and
/// spacing do not count. A text of one or two words is one shingle; a text without words has none.
pub fn shingles(text: &str) -> Vec<u64> {
    let mut shingles = Vec::new();
    let mut recent = [0_u64; SHINGLE_WORDS];
    let mut words = 0;
    let _ = visit_words(text, |word, _| {
        recent.rotate_left(1);
        recent[SHINGLE_WORDS - 1] = hash_word(word);
        words += 1;
        if words >= SHINGLE_WORDS {
            shingles.push(combine(&recent));
        }
        ControlFlow::<()>::Continue(())
    });
    if words > 0 && words < SHINGLE_WORDS {
        shingles.push(combine(&recent[SHINGLE_WORDS - words..]));
    }
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// A sketch of a set: for each of 64 hash functions, the least hash of a member. A set without
/// members has the greatest number everywhere.
pub fn minhash(shingles: &[u64]) -> [u32; SKETCH_LEN] {
    let mut minima = [u32::MAX; SKETCH_LEN];
    for shingle in shingles {
        for (minimum, (factor, offset)) in minima.iter_mut().zip(&FUNCTIONS) {
            let hash = (shingle.wrapping_mul(*factor).wrapping_add(*offset) >> 32) as u32;
            *minimum = (*minimum).min(hash);
        }
    }
    minima
}

/// How much two sets overlap, 0 to 1. Both must be sorted and distinct, as [`shingles`] are. Two
/// empty sets have nothing in common.
pub fn jaccard(a: &[u64], b: &[u64]) -> f32 {
    let (mut at, mut bt, mut shared) = (0, 0, 0_usize);
    while at < a.len() && bt < b.len() {
        let (x, y) = (a[at], b[bt]);
        shared += usize::from(x == y);
        at += usize::from(x <= y);
        bt += usize::from(y <= x);
    }
    let union = a.len() + b.len() - shared;
    if union == 0 { 0.0 } else { shared as f32 / union as f32 }
}

/// Multiply-shift hash functions: odd factors and offsets from a fixed sequence.
static FUNCTIONS: [(u64, u64); SKETCH_LEN] = {
    let mut functions = [(0, 0); SKETCH_LEN];
    let mut at = 0;
    while at < SKETCH_LEN {
        let n = at as u64 * 2;
        functions[at] = (mix(n + 1) | 1, mix(n + 2));
        at += 1;
    }
    functions
};

/// FNV-1a, then mixed: short words must differ in the high bits too.
fn hash_word(word: &str) -> u64 {
    let hash = word.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    mix(hash)
}

/// The order of the words counts.
fn combine(words: &[u64]) -> u64 {
    words.iter().fold(words.len() as u64, |hash, word| mix(hash.rotate_left(17) ^ word))
}

/// A bijection that spreads every bit over all.
const fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sets() {
        assert!(shingles("?!").is_empty());
        assert_eq!(shingles("one").len(), 1);
        assert_eq!(shingles("one two").len(), 1);
        assert_eq!(shingles("one two three").len(), 1);
        assert_eq!(shingles("one two three four").len(), 2);
        assert_eq!(shingles("a a a a a").len(), 1);
        assert_eq!(shingles("The CAFÉ, is open!"), shingles("the cafe is  open"));
        assert_ne!(shingles("one two three"), shingles("three two one"));
        assert_ne!(shingles("ab c"), shingles("a bc"));
    }

    #[test]
    fn hashes_never_change() {
        // Stored fingerprints must stay comparable from one release to the next.
        assert_eq!(shingles("the user prefers dark mode"), FIXED);
    }

    /// The overlap as two sketches tell it: the share of equal minima.
    fn estimate(a: &[u32; SKETCH_LEN], b: &[u32; SKETCH_LEN]) -> f32 {
        let equal = a.iter().zip(b).filter(|(x, y)| x == y && **x != u32::MAX).count();
        equal as f32 / SKETCH_LEN as f32
    }

    #[test]
    fn overlap() {
        let a = shingles("the user prefers dark mode in every editor on the laptop");
        let b = shingles("The user prefers dark mode in every editor on the desktop.");
        let c = shingles("completely different words about cooking rice at home tonight");
        assert_eq!(jaccard(&a, &a), 1.0);
        assert!((jaccard(&a, &b) - 8.0 / 10.0).abs() < 1e-6);
        assert_eq!(jaccard(&a, &c), 0.0);
        assert_eq!(jaccard(&[], &[]), 0.0);
        assert_eq!(estimate(&minhash(&a), &minhash(&a)), 1.0);
        assert_eq!(estimate(&minhash(&[]), &minhash(&[])), 0.0);
        assert!(estimate(&minhash(&a), &minhash(&b)) > 0.6);
        assert!(estimate(&minhash(&a), &minhash(&c)) < 0.2);
    }

    #[test]
    fn estimates_are_close() {
        let numbers = |from: usize, to: usize| {
            shingles(&(from..to).map(|n| format!("w{n} ")).collect::<String>())
        };
        for shift in [0, 50, 100, 200, 400] {
            let (a, b) = (numbers(0, 500), numbers(shift, shift + 500));
            let off = (estimate(&minhash(&a), &minhash(&b)) - jaccard(&a, &b)).abs();
            assert!(off < 0.2, "{shift}: {off}");
        }
    }

    proptest! {
        #[test]
        fn overlap_is_symmetric_and_bounded(a in "[a-c ]{0,40}", b in "[a-c ]{0,40}") {
            let (a, b) = (shingles(&a), shingles(&b));
            let overlap = jaccard(&a, &b);
            prop_assert_eq!(overlap, jaccard(&b, &a));
            prop_assert!((0.0..=1.0).contains(&overlap));
            prop_assert!(a.is_sorted_by(|x, y| x < y));
            prop_assert_eq!(a == b && !a.is_empty(), overlap == 1.0);
        }
    }

    const FIXED: [u64; 3] = [6765321190371341156, 12773552196099747483, 18328469435576276616];
}
