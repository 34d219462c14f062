//! The small forms of a vector: one signed byte per part, and one bit per part.
//!
//! Bytes are scaled by each vector's own largest part, so that a vector with one long part and one
//! with many short ones both use the whole range. Bits keep only the sign: enough to tell the near
//! from the far, not to rank the near.

/// A vector as signed bytes; `codes[i] * scale` is about the original part.
#[derive(Debug, Clone, PartialEq)]
pub struct Int8 {
    /// One byte per part, -127 to 127.
    pub codes: Vec<i8>,
    /// What a code of one stands for.
    pub scale: f32,
}

impl Int8 {
    /// The bytes nearest to a vector of finite parts.
    pub fn of(vector: &[f32]) -> Self {
        let (inverse, scale) = scales(vector, f32::from(i8::MAX));
        let codes = vector.iter().map(|&x| (x * inverse).round() as i8).collect();
        Self { codes, scale }
    }
}

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
pub fn sign_bits(vector: &[f32]) -> impl Iterator<Item = u64> + '_ {
    vector.chunks(64).map(|part| {
        part.iter().rev().fold(0, |word, x| word << 1 | u64::from(x.is_sign_negative()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Int8, sign_bits};
    use proptest::prelude::*;

    #[test]
    fn the_largest_part_uses_the_whole_range() {
        let small = Int8::of(&[0.5, -0.25, 0.0]);
        assert_eq!(small.codes, [127, -64, 0]);
        assert_eq!(Int8::of(&[0.0, 0.0]), Int8 { codes: vec![0, 0], scale: 0.0 });
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
            let Int8 { codes, scale } = Int8::of(&vector);
            for (code, x) in codes.iter().zip(&vector) {
                prop_assert!((f32::from(*code) * scale - x).abs() <= scale * 0.5001);
            }
        }
    }
}
