//! The best of many, without sorting the many: what cannot be among them is turned away at once.

use std::cmp::Ordering;

/// How many times as many as are wanted are kept before the worse are dropped.
const SLACK: usize = 4;

/// The best so far. Equals go by `tie`, so that what is kept does not depend on the order in which
/// it came.
pub(super) struct Best<T, F> {
    wanted: usize,
    kept: Vec<(f32, T)>,
    /// Nothing below it can still be among the best.
    floor: f32,
    tie: F,
}

impl<T: Copy, F: Fn(T, T) -> Ordering> Best<T, F> {
    pub(super) fn new(wanted: usize, tie: F) -> Self {
        Self { wanted, kept: Vec::new(), floor: f32::NEG_INFINITY, tie }
    }

    #[inline]
    pub(super) fn offer(&mut self, score: f32, one: T) {
        if score >= self.floor {
            self.keep(score, one);
        }
    }

    fn keep(&mut self, score: f32, one: T) {
        self.kept.push((score, one));
        if self.kept.len() >= (self.wanted * SLACK).max(SLACK) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.wanted && self.wanted > 0 {
            let Self { kept, tie, .. } = self;
            let (_, (last, _), _) =
                kept.select_nth_unstable_by(self.wanted - 1, |a, b| order(a, b, tie));
            self.floor = *last;
        }
        self.kept.truncate(self.wanted);
    }

    /// The best, best first.
    pub(super) fn sorted(mut self) -> Vec<T> {
        self.cut();
        let tie = &self.tie;
        self.kept.sort_unstable_by(|a, b| order(a, b, tie));
        self.kept.into_iter().map(|(_, one)| one).collect()
    }
}

fn order<T: Copy>(a: &(f32, T), b: &(f32, T), tie: &impl Fn(T, T) -> Ordering) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| tie(a.1, b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_is_what_sorting_would_put_first(
            scores in prop::collection::vec(0..20u8, 0..300),
            wanted in 0..30usize,
        ) {
            let numbered: Vec<(u8, usize)> =
                scores.iter().copied().enumerate().map(|(at, score)| (score, at)).collect();
            let mut best = Best::new(wanted, |a: usize, b: usize| a.cmp(&b));
            // Backwards: ties must not go by arrival.
            for (score, at) in numbered.iter().rev() {
                best.offer(f32::from(*score), *at);
            }
            let mut sorted = numbered;
            sorted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            let expected: Vec<usize> = sorted.into_iter().take(wanted).map(|(_, at)| at).collect();
            prop_assert_eq!(best.sorted(), expected);
        }
    }
}
