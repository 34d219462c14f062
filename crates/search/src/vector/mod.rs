//! Vectors at rest and in memory: their stored form, their small form, and the scan over them.
//!
//! All of it is safe code; loops are written so that the compiler vectorises them, and `pulp` picks
//! at run time the widest instructions the processor has. Every vector here has unit length, so a
//! dot product is a cosine.

mod half;
mod matrix;
mod quantize;

pub use half::{decode, encode};
pub use matrix::{DIMS_MAX, QueryVector, VectorMatrix, nearest_by_bits};

/// Dot product of two vectors of the same dimension: the exact cosine of unit vectors.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut sums = [0f32; LANES];
            let (a_chunks, a_rest) = a.as_chunks::<LANES>();
            let (b_chunks, b_rest) = b.as_chunks::<LANES>();
            for (x, y) in a_chunks.iter().zip(b_chunks) {
                for lane in 0..LANES {
                    sums[lane] += x[lane] * y[lane];
                }
            }
            let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
            sums.iter().sum::<f32>() + rest
        },
    )
}

/// Independent sums, because float addition has an order the compiler may not change.
const LANES: usize = 16;
