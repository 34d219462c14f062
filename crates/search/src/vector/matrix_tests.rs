//! The scans against the plainest code that does the same.

use super::{QueryVector, VectorMatrix, nearest_by_bits, side_by_side};
use proptest::prelude::*;

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
    vector.iter().map(|x| x / length).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn differing_signs(a: &[f32], b: &[f32]) -> usize {
    a.iter().zip(b).filter(|(x, y)| x.is_sign_negative() != y.is_sign_negative()).count()
}

fn matrix_of(rows: &[Vec<f32>], dims: usize) -> VectorMatrix {
    let mut matrix = VectorMatrix::new(dims);
    for (number, row) in (0..).zip(rows) {
        assert_eq!(matrix.push(row), number);
    }
    matrix
}

/// A dimension, a query and some rows of it.
fn vectors() -> impl Strategy<Value = (usize, Vec<f32>, Vec<Vec<f32>>)> {
    (1usize..200).prop_flat_map(|dims| {
        let vector = || prop::collection::vec(-1f32..1.0, dims).prop_map(|v| unit(&v));
        (Just(dims), vector(), prop::collection::vec(vector(), 0..40))
    })
}

proptest! {
    #[test]
    fn scores_are_close_to_the_cosine((dims, query, rows) in vectors()) {
        let matrix = matrix_of(&rows, dims);
        let prepared = QueryVector::new(&query);
        let mut scores = vec![7.0];
        matrix.scores(&prepared, &mut scores);
        prop_assert_eq!(scores.len(), rows.len());
        for (score, row) in scores.iter().zip(&rows) {
            prop_assert!((score - cosine(&query, row)).abs() < 0.02);
        }

        let backwards: Vec<u32> = (0..rows.len() as u32).rev().collect();
        let mut some = vec![7.0];
        matrix.scores_of(&prepared, &backwards, &mut some);
        some.reverse();
        prop_assert_eq!(some, scores);

        for a in 0..rows.len().min(3) {
            let b = rows.len() - 1 - a;
            let similarity = matrix.similarity(a as u32, &matrix, b as u32);
            prop_assert!((similarity - cosine(&rows[a], &rows[b])).abs() < 0.02);
        }
    }

    #[test]
    fn nearest_by_bits_is_a_stable_sort_by_distance(
        (dims, query, rows) in vectors(),
        count in 0usize..50,
        skipped in prop::collection::hash_set(0u32..40, 0..20),
    ) {
        // The same rows in one matrix and cut in two.
        let cut = rows.len() / 3;
        let parts = [matrix_of(&rows, dims), matrix_of(&rows[..cut], dims), matrix_of(&rows[cut..], dims)];
        for (matrices, first) in [(vec![&parts[0]], [0, 0]), (vec![&parts[1], &parts[2]], [0, cut])] {
            let number = |(matrix, row): (usize, u32)| first[matrix] as u32 + row;
            let counts = |matrix, row| !skipped.contains(&number((matrix, row)));
            let found = nearest_by_bits(&matrices, &QueryVector::new(&query), count, counts);
            let found: Vec<u32> = found.into_iter().map(number).collect();
            let mut expected: Vec<u32> =
                (0..rows.len() as u32).filter(|row| !skipped.contains(row)).collect();
            expected.sort_by_key(|&row| differing_signs(&query, &rows[row as usize]));
            expected.truncate(count);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_thinned_matrix_equals_one_built_afresh(
        (dims, query, rows) in vectors(),
        kept in prop::collection::btree_set(0u32..40, 0..40),
    ) {
        let kept: Vec<u32> = kept.into_iter().filter(|&row| (row as usize) < rows.len()).collect();
        let mut matrix = matrix_of(&rows, dims);
        matrix.keep(&kept);
        let left: Vec<_> = kept.iter().map(|&row| rows[row as usize].clone()).collect();
        let mut fresh = matrix_of(&left, dims);
        prop_assert_eq!(matrix.push(&query), fresh.push(&query));
        prop_assert_eq!(&matrix.codes, &fresh.codes);
        prop_assert_eq!(&matrix.scales, &fresh.scales);
        prop_assert_eq!(&matrix.bits, &fresh.bits);
    }

    #[test]
    fn the_exact_dot_product_is_the_sum_of_products((_, query, rows) in vectors()) {
        for row in rows {
            prop_assert!((crate::vector::dot(&query, &row) - cosine(&query, &row)).abs() < 1e-5);
        }
    }
}

#[test]
fn sums_fit_at_the_largest_dimension() {
    let vector = unit(&vec![1.0; super::DIMS_MAX]);
    let matrix = matrix_of(std::slice::from_ref(&vector), super::DIMS_MAX);
    let mut scores = Vec::new();
    matrix.scores(&QueryVector::new(&vector), &mut scores);
    assert!((scores[0] - 1.0).abs() < 0.01);
}

#[test]
fn a_zero_vector_is_near_nothing() {
    let matrix = matrix_of(&[vec![0.0, 0.0], vec![1.0, 0.0]], 2);
    let mut scores = Vec::new();
    matrix.scores(&QueryVector::new(&[1.0, 0.0]), &mut scores);
    assert_eq!(scores[0], 0.0);
    matrix.scores(&QueryVector::new(&[0.0, 0.0]), &mut scores);
    assert_eq!(scores, [0.0, 0.0]);
}

#[test]
#[should_panic(expected = "never meet")]
fn vectors_of_another_dimension_are_refused() {
    VectorMatrix::new(3).push(&[1.0, 0.0]);
}

#[test]
fn threads_fill_every_place_once() {
    for threads in 1..6 {
        for rows in [0usize, 1, 4, 5, 7, 100] {
            let mut out = vec![0; rows];
            side_by_side(&mut out, threads, |first, part| {
                part.iter_mut().zip(first + 1..).for_each(|(place, row)| *place += row);
            });
            assert_eq!(out, (1..=rows).collect::<Vec<_>>(), "{threads} threads");
        }
    }
}
