//! The small forms of a vector: one signed byte per part, and one bit per part.
//!
//! Bytes are scaled by each vector's own largest part, so that a vector with one long part and one
//! with many short ones both use the whole range. Bits keep only the sign: enough to tell the near
//! from the far, not to rank the near.

/// What to multiply a vector with so that its largest part becomes `largest_code`, and what to
/// multiply the codes with to come back. Zero both ways for a zero vector.
pub(super) fn scales(vector: &[f32], largest_code: f32) -> (f32, f32) {
    let largest = vector.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    if largest < f32::MIN_POSITIVE {
        (0.0, 0.0)
    } else {
        (largest_code / largest, largest / largest_code)
    }
}

/// One bit per part, set where it is negative, in words of 64 from the lowest bit up; the last
/// word's spare bits are zero.
pub(super) fn sign_bits(vector: &[f32]) -> impl Iterator<Item = u64> + '_ {
    vector.chunks(64).map(|part| {
        part.iter().rev().fold(0, |word, x| word << 1 | u64::from(x.is_sign_negative()))
    })
}

#[cfg(test)]
mod tests {
    use super::{scales, sign_bits};
    use proptest::prelude::*;

    #[test]
    fn the_largest_part_uses_the_whole_range() {
        assert_eq!(scales(&[0.5, -0.25, 0.0], 127.0), (254.0, 0.5 / 127.0));
        assert_eq!(scales(&[0.0, 0.0], 127.0), (0.0, 0.0));
    }

    #[test]
    fn bits_are_signs_from_the_lowest_up() {
        let mut vector = vec![1.0; 66];
        vector[0] = -1.0;
        vector[63] = -1.0;
        vector[65] = -1.0;
        assert_eq!(sign_bits(&vector).collect::<Vec<_>>(), [1 | 1 << 63, 2]);
    }

    proptest! {
        #[test]
        fn a_code_is_within_half_a_step(vector in prop::collection::vec(-1f32..1.0, 1..100)) {
            let (inverse, scale) = scales(&vector, 127.0);
            for x in &vector {
                let code = (x * inverse).round();
                prop_assert!((code * scale - x).abs() <= scale * 0.5001);
            }
        }
    }
}
