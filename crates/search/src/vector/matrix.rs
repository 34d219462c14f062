//! All vectors of one index, as rows of bytes and bits next to each other, and the scans over them.
//!
//! Bytes lie row after row without gaps, so that a scan reads memory in order and nothing else. A row
//! is named by its number. Cosines are approximate, with an error around 0.002: enough to pick
//! candidates, which the caller may score again exactly.

use super::quantize::{scales, sign_bits};
use std::sync::LazyLock;

/// The largest dimension; within it, sums of products of codes fit 32 bits.
pub const DIMS_MAX: usize = 8_192;

/// The query's codes are finer than the rows': it costs nothing, there is only one of it.
const QUERY_CODE_MAX: i16 = 2_047;
/// Rows are padded to a multiple of this, so that the inner loop has no rest.
const STRIDE_UNIT: usize = 32;
/// Words of sign bits of vectors of 384 numbers, as the built-in model makes them.
const USUAL_WORDS: usize = 6;
/// How many times as many are looked at when too few of them count.
const FURTHER: usize = 8;
const ROWS_ADDED_MIN: usize = 16;
/// How much a scan reads before it is worth another thread, and how many threads are enough to take
/// all that memory gives.
const BYTES_PER_THREAD: usize = 8 << 20;
const THREADS_MAX: usize = 4;

/// Vectors of one dimension, ready to be compared with a query.
#[derive(Debug, Clone)]
pub struct VectorMatrix {
    dims: usize,
    stride: usize,
    codes: Vec<i8>,
    scales: Vec<f32>,
    bits: Vec<u64>,
}

/// A query in the form the rows are compared with.
#[derive(Debug, Clone)]
pub struct QueryVector {
    dims: usize,
    codes: Vec<i16>,
    scale: f32,
    bits: Vec<u64>,
}

impl QueryVector {
    /// Prepares a unit vector.
    pub fn new(vector: &[f32]) -> Self {
        let (inverse, scale) = scales(vector, f32::from(QUERY_CODE_MAX));
        let mut codes: Vec<i16> = vector.iter().map(|&x| (x * inverse).round() as i16).collect();
        codes.resize(vector.len().next_multiple_of(STRIDE_UNIT), 0);
        Self { dims: vector.len(), codes, scale, bits: sign_bits(vector).collect() }
    }

    /// How many numbers it has.
    pub fn dims(&self) -> usize {
        self.dims
    }
}

impl VectorMatrix {
    /// A matrix without rows.
    ///
    /// # Panics
    /// If the dimension is zero or above [`DIMS_MAX`].
    pub fn new(dims: usize) -> Self {
        assert!((1..=DIMS_MAX).contains(&dims), "{dims} is no dimension of a vector");
        let stride = dims.next_multiple_of(STRIDE_UNIT);
        Self { dims, stride, codes: Vec::new(), scales: Vec::new(), bits: Vec::new() }
    }

    /// How many numbers a vector has.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// The memory taken, spare capacity included.
    pub fn bytes(&self) -> usize {
        self.codes.capacity()
            + self.scales.capacity() * size_of::<f32>()
            + self.bits.capacity() * size_of::<u64>()
    }

    /// Adds a row and returns its number.
    ///
    /// # Panics
    /// If the vector has another dimension.
    pub fn push(&mut self, vector: &[f32]) -> u32 {
        assert_eq!(vector.len(), self.dims, "vectors of different models never meet");
        let row = u32::try_from(self.len()).expect("rows are counted in 32 bits");
        self.make_room();
        let (inverse, scale) = scales(vector, f32::from(i8::MAX));
        self.codes.extend(vector.iter().map(|x| (x * inverse).round() as i8));
        self.codes.resize((row as usize + 1) * self.stride, 0);
        self.scales.push(scale);
        self.bits.extend(sign_bits(vector));
        row
    }

    /// Keeps only these rows, given in ascending order, and numbers them anew in that order.
    ///
    /// # Panics
    /// If one of the rows does not exist, or they are out of order.
    pub fn keep(&mut self, rows: &[u32]) {
        assert!(rows.is_sorted_by(|a, b| a < b), "rows are kept in their order");
        let words = self.words();
        for (to, &from) in rows.iter().enumerate() {
            let from = from as usize;
            self.scales[to] = self.scales[from];
            self.codes.copy_within(from * self.stride..(from + 1) * self.stride, to * self.stride);
            self.bits.copy_within(from * words..(from + 1) * words, to * words);
        }
        self.scales.truncate(rows.len());
        self.codes.truncate(rows.len() * self.stride);
        self.bits.truncate(rows.len() * words);
        self.scales.shrink_to_fit();
        self.codes.shrink_to_fit();
        self.bits.shrink_to_fit();
    }

    /// The approximate cosine of every row, in order; `out` is cleared first.
    pub fn scores(&self, query: &QueryVector, out: &mut Vec<f32>) {
        assert_eq!(query.dims, self.dims, "vectors of different models never meet");
        out.clear();
        out.resize(self.len(), 0.0);
        side_by_side(out, threads_for(self.codes.len()), |first, out| {
            let codes = &self.codes[first * self.stride..];
            let (stride, scales) = (self.stride, &self.scales[first..]);
            pulp::Arch::new().dispatch(Cosines { codes, stride, scales, query, out });
        });
    }

    /// The approximate cosine of some rows, in the order given; `out` is cleared first.
    ///
    /// # Panics
    /// If one of the rows does not exist.
    pub fn scores_of(&self, query: &QueryVector, rows: &[u32], out: &mut Vec<f32>) {
        assert_eq!(query.dims, self.dims, "vectors of different models never meet");
        out.clear();
        out.resize(rows.len(), 0.0);
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (score, row) in out.iter_mut().zip(rows) {
                    let codes = self.codes_of(*row);
                    *score =
                        dot(codes, &query.codes) as f32 * self.scales[*row as usize] * query.scale;
                }
            },
        );
    }

    /// The approximate cosine of a row and a row of the same or another matrix.
    ///
    /// # Panics
    /// If one of the rows does not exist, or the other matrix has another dimension.
    pub fn similarity(&self, row: u32, other: &Self, other_row: u32) -> f32 {
        assert_eq!(other.dims, self.dims, "vectors of different models never meet");
        let (codes_a, codes_b) = (self.codes_of(row), other.codes_of(other_row));
        let sum = pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut sum = 0;
                for (x, y) in codes_a.iter().zip(codes_b) {
                    sum += i32::from(*x) * i32::from(*y);
                }
                sum
            },
        );
        sum as f32 * self.scales[row as usize] * other.scales[other_row as usize]
    }

    /// In how many signs every row differs from the query.
    fn distances(&self, query: &QueryVector) -> Vec<u16> {
        assert_eq!(query.dims, self.dims, "vectors of different models never meet");
        let mut distances = vec![0; self.len()];
        let words = self.words();
        let threads = threads_for(size_of_val(self.bits.as_slice()));
        side_by_side(&mut distances, threads, |first, distances| {
            let bits = &self.bits[first * words..];
            pulp::Arch::new().dispatch(Distances { bits, words, query, distances });
        });
        distances
    }

    /// Grows by an eighth instead of doubling: nearly all memory of an index is here.
    fn make_room(&mut self) {
        if self.scales.len() == self.scales.capacity() {
            let rows = (self.len() / 8).max(ROWS_ADDED_MIN);
            self.scales.reserve_exact(rows);
            self.codes.reserve_exact(rows * self.stride);
            self.bits.reserve_exact(rows * self.words());
        }
    }

    fn codes_of(&self, row: u32) -> &[i8] {
        &self.codes[row as usize * self.stride..][..self.stride]
    }

    /// Words of sign bits per row.
    fn words(&self) -> usize {
        self.dims.div_ceil(u64::BITS as usize)
    }
}

/// The `count` rows of all matrices whose signs agree most with the query's, nearest first, of those
/// that count; rows at the same distance come in order. Each is named by its matrix and its number.
///
/// Reads 1 bit per number instead of 8. The caller takes several times as many as it wants and scores
/// those.
///
/// # Panics
/// If one of the matrices has another dimension than the query.
pub fn nearest_by_bits(
    matrices: &[&VectorMatrix],
    query: &QueryVector,
    count: usize,
    counts: impl Fn(usize, u32) -> bool,
) -> Vec<(usize, u32)> {
    let distances: Vec<Vec<u16>> = matrices.iter().map(|matrix| matrix.distances(query)).collect();

    // Distances are few and small: count each, and how far one must look follows.
    let mut rows_at = vec![0usize; query.dims + 1];
    for &distance in distances.iter().flatten() {
        rows_at[usize::from(distance)] += 1;
    }
    let mut nearest: Vec<(u16, usize, u32)> = Vec::new();
    let mut sought = count;
    loop {
        let mut nearer = 0;
        let enough = rows_at.iter().position(|rows| {
            nearer += rows;
            nearer >= sought
        });
        let far = enough.unwrap_or(query.dims) as u16;
        nearest.clear();
        for (matrix, distances) in distances.iter().enumerate() {
            for (row, &distance) in (0..).zip(distances) {
                if distance <= far && counts(matrix, row) {
                    nearest.push((distance, matrix, row));
                }
            }
        }
        if nearest.len() >= count || enough.is_none() {
            break;
        }
        // Too many of the near ones do not count.
        sought = sought.saturating_mul(FURTHER);
    }
    nearest.sort_unstable();
    nearest.truncate(count);
    nearest.into_iter().map(|(_, matrix, row)| (matrix, row)).collect()
}

/// How many threads are worth it to read so many bytes.
fn threads_for(bytes: usize) -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    (bytes / BYTES_PER_THREAD).min(*PROCESSORS).min(THREADS_MAX)
}

/// Fills `out`, one place per row, by threads that each take the rows from a first one on.
fn side_by_side<T: Send>(out: &mut [T], threads: usize, fill: impl Fn(usize, &mut [T]) + Sync) {
    if threads < 2 || out.is_empty() {
        return fill(0, out);
    }
    let rows = out.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let mut parts = (0..).step_by(rows).zip(out.chunks_mut(rows));
        let own = parts.next();
        let fill = &fill;
        for (first, part) in parts {
            scope.spawn(move || fill(first, part));
        }
        if let Some((first, part)) = own {
            fill(first, part);
        }
    });
}

/// The scan over whole rows. Scans are types with a plain loop and not closures: whatever the
/// compiler leaves as a function of its own would be built without the wide instructions.
struct Cosines<'a> {
    codes: &'a [i8],
    stride: usize,
    scales: &'a [f32],
    query: &'a QueryVector,
    out: &'a mut [f32],
}

impl pulp::NullaryFnOnce for Cosines<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let rows = self.codes.chunks_exact(self.stride).zip(self.scales);
        for (score, (codes, scale)) in self.out.iter_mut().zip(rows) {
            *score = dot(codes, &self.query.codes) as f32 * scale * self.query.scale;
        }
    }
}

/// The scan over signs.
struct Distances<'a> {
    bits: &'a [u64],
    words: usize,
    query: &'a QueryVector,
    distances: &'a mut [u16],
}

impl pulp::NullaryFnOnce for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // A few words a row: known in advance how many, the loop over them goes away.
        if let (USUAL_WORDS, Ok(query)) =
            (self.words, <&[u64; USUAL_WORDS]>::try_from(&*self.query.bits))
        {
            let (rows, _) = self.bits.as_chunks::<USUAL_WORDS>();
            for (distance, row) in self.distances.iter_mut().zip(rows) {
                let mut differing = 0;
                for word in 0..USUAL_WORDS {
                    differing += (row[word] ^ query[word]).count_ones();
                }
                *distance = differing as u16;
            }
            return;
        }
        let rows = self.bits.chunks_exact(self.words);
        for (distance, row) in self.distances.iter_mut().zip(rows) {
            let mut differing = 0;
            for (x, y) in row.iter().zip(&self.query.bits) {
                differing += (x ^ y).count_ones();
            }
            *distance = differing as u16;
        }
    }
}

/// Sum of products of a row and a query. Must be inlined where the wide instructions are enabled.
#[inline(always)]
fn dot(row: &[i8], query: &[i16]) -> i32 {
    let mut sum = 0;
    for (x, y) in row.iter().zip(query) {
        sum += i32::from(*x) * i32::from(*y);
    }
    sum
}

#[cfg(test)]
#[path = "matrix_tests.rs"]
mod tests;
