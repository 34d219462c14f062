//! The stored form of vectors: 16-bit floats, little-endian, one after another.
//!
//! Half the space of f32 at an error of about 1e-4 of a cosine's range. One blob holds all passages
//! of a memory; its length and the dimension say how many.

use half::f16;

const FLOAT_BYTES: usize = 2;

/// The stored form of some vectors.
pub fn encode(vectors: &[Vec<f32>]) -> Vec<u8> {
    let floats = vectors.iter().flatten();
    floats.flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect()
}

/// The vectors of a stored form; none if it does not hold a whole number of them, or holds anything
/// that is not a finite number.
pub fn decode(bytes: &[u8], dims: usize) -> Option<Vec<Vec<f32>>> {
    let row_bytes = dims.checked_mul(FLOAT_BYTES).filter(|&bytes| bytes > 0)?;
    if !bytes.len().is_multiple_of(row_bytes) {
        return None;
    }
    bytes.chunks_exact(row_bytes).map(decode_row).collect()
}

fn decode_row(bytes: &[u8]) -> Option<Vec<f32>> {
    let (floats, _) = bytes.as_chunks::<FLOAT_BYTES>();
    let finite = |&bytes: &[u8; FLOAT_BYTES]| {
        let x = f16::from_le_bytes(bytes).to_f32();
        x.is_finite().then_some(x)
    };
    floats.iter().map(finite).collect()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_little_endian_halves() {
        assert_eq!(encode(&[vec![1.0, -2.0], vec![0.5, 0.0]]), [0, 0x3c, 0, 0xc0, 0, 0x38, 0, 0]);
    }

    #[test]
    fn what_is_not_vectors_of_that_dimension_is_refused() {
        assert_eq!(decode(&[0; 4], 0), None);
        assert_eq!(decode(&[0; 4], usize::MAX), None);
        assert_eq!(decode(&[0; 5], 2), None);
        assert_eq!(decode(&[0; 6], 2), None);
        assert_eq!(decode(&[0, 0x7c], 1), None, "infinity");
        assert_eq!(decode(&[1, 0x7c], 1), None, "not a number");
        assert_eq!(decode(&[], 2), Some(vec![]));
        assert_eq!(decode(&encode(&[vec![1e9]]), 1), None, "too large for a half");
    }

    proptest! {
        #[test]
        fn what_was_stored_comes_back_nearly_the_same(
            vectors in prop::collection::vec(prop::collection::vec(-1f32..1.0, 7), 0..5),
        ) {
            let back = decode(&encode(&vectors), 7).unwrap();
            prop_assert_eq!(back.len(), vectors.len());
            for (x, y) in back.iter().flatten().zip(vectors.iter().flatten()) {
                prop_assert!((x - y).abs() <= 5e-4);
            }
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in any::<Vec<u8>>(), dims in 0usize..9) {
            if let Some(vectors) = decode(&bytes, dims) {
                prop_assert_eq!(encode(&vectors), bytes);
            }
        }
    }
}
