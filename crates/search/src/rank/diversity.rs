//! Diversity: each next result is the best of those that are unlike the results before it (maximal
//! marginal relevance). Likeness is that of the vectors; memories without vectors, or of stores
//! with another model, are taken as unlike.

use super::{Candidate, Part};

pub(super) fn spread(
    parts: &[Part<'_>],
    candidates: &mut [Candidate],
    diversity: f32,
    limit: usize,
) {
    let best = candidates.first().map_or(1.0, |first| first.score).max(f32::MIN_POSITIVE);
    let mut likeness = vec![0.0f32; candidates.len()];
    for place in 0..limit.min(candidates.len()) {
        let worth =
            |at: usize| (1.0 - diversity) * candidates[at].score / best - diversity * likeness[at];
        let mut next = place;
        for at in place + 1..candidates.len() {
            if worth(at) > worth(next) {
                next = at;
            }
        }
        // The rest stays in its order.
        candidates[place..=next].rotate_right(1);
        likeness[place..=next].rotate_right(1);
        for at in place + 1..candidates.len() {
            let alike = similarity(parts, &candidates[place], &candidates[at]);
            likeness[at] = likeness[at].max(alike);
        }
    }
}

fn similarity(parts: &[Part<'_>], a: &Candidate, b: &Candidate) -> f32 {
    let (a_vectors, b_vectors) = (parts[a.part].0.vectors(), parts[b.part].0.vectors());
    let (Some(a_matrix), Some(b_matrix)) = (a_vectors.matrix(), b_vectors.matrix()) else {
        return 0.0;
    };
    if !a_vectors.is_comparable(b_vectors) {
        return 0.0;
    }
    let mut most = 0.0f32;
    for a_row in a_vectors.rows(a.doc) {
        for b_row in b_vectors.rows(b.doc) {
            most = most.max(a_matrix.similarity(a_row, b_matrix, b_row));
        }
    }
    most
}
