//! The figures of an evaluation: pure functions of ranks, so that they can be checked by hand.
//!
//! All are means over questions. They agree to the last digit with the usual definitions computed
//! in double precision; sums are compensated so that their order and length do not show.

/// Where the first results are cut.
const CUTS: [usize; 4] = [1, 5, 10, 20];
/// Where nDCG is cut.
const GAIN_CUT: usize = 10;

/// The figures that are shown, in their order.
pub(super) const COLUMNS: [&str; 9] =
    ["R@5", "R@10", "R@20", "all@5", "all@10", "all@20", "any@10", "MRR", "nDCG@10"];

/// How well one question was answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scores {
    /// Share of the evidence among the first results.
    recall: [f64; CUTS.len()],
    /// Whether all of it is.
    all: [f64; CUTS.len()],
    /// Whether any of it is.
    any: [f64; CUTS.len()],
    /// One over the rank of the first piece; 0 when none was found.
    reciprocal_rank: f64,
    /// Discounted gain against the best possible.
    gain: f64,
}

impl Scores {
    /// Scores a ranking, best first, against the evidence. Neither may be given twice; the evidence
    /// must not be empty.
    pub(super) fn of(ranked: &[&str], evidence: &[&str]) -> Self {
        let is_evidence = |found: &&str| evidence.contains(found);
        let found_in = |cut: usize| ranked.iter().take(cut).copied().filter(is_evidence).count();
        let share = |cut: usize| found_in(cut) as f64 / evidence.len() as f64;
        let flag = |is_so: bool| f64::from(u8::from(is_so));
        let discount = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let first = ranked.iter().copied().position(|found| is_evidence(&found));
        let gains = (0..GAIN_CUT.min(ranked.len())).filter(|at| is_evidence(&ranked[*at]));
        let best = (0..GAIN_CUT.min(evidence.len())).map(discount);
        Self {
            recall: CUTS.map(share),
            all: CUTS.map(|cut| flag(found_in(cut) == evidence.len())),
            any: CUTS.map(|cut| flag(found_in(cut) > 0)),
            reciprocal_rank: first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
            gain: sum(gains.map(discount)) / sum(best),
        }
    }

    /// A figure by its name, such as `R@10`.
    pub(super) fn get(&self, name: &str) -> Option<f64> {
        let (kind, cut) = match name.split_once('@') {
            Some(("nDCG", "10")) => return Some(self.gain),
            None if name == "MRR" => return Some(self.reciprocal_rank),
            other => other?,
        };
        let at = CUTS.iter().position(|known| known.to_string() == cut)?;
        match kind {
            "R" => Some(self.recall[at]),
            "all" => Some(self.all[at]),
            "any" => Some(self.any[at]),
            _ => None,
        }
    }
}

/// The mean of a figure that exists; 0 of nothing.
pub(super) fn mean<'a>(scores: impl ExactSizeIterator<Item = &'a Scores>, name: &str) -> f64 {
    match scores.len() {
        0 => 0.0,
        count => sum(scores.filter_map(|scores| scores.get(name))) / count as f64,
    }
}

/// Time that half, and that 95 of 100, stay below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Latency {
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
}

impl Latency {
    /// Of some times, in any order; of none it is 0.
    pub(super) fn of(mut times_ms: Vec<f64>) -> Self {
        times_ms.sort_by(f64::total_cmp);
        let at = |place: usize| times_ms.get(place).copied().unwrap_or(0.0);
        let count = times_ms.len();
        // Rounded as the reference script does it.
        Self { p50_ms: at(count / 2), p95_ms: at((count as f64 * 0.95) as usize) }
    }
}

/// A sum that keeps what plain addition rounds away.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = total + value;
        lost += match total.abs() >= value.abs() {
            true => (total - next) + value,
            false => (value - next) + total,
        };
        total = next;
    }
    total + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ranked: &[&str], evidence: &[&str], expect: &[(&str, f64)]) {
        let scores = Scores::of(ranked, evidence);
        for (name, value) in expect {
            let found = scores.get(name).unwrap();
            assert!((found - value).abs() < 1e-12, "{name} of {ranked:?}: {found}, not {value}");
        }
    }

    #[test]
    fn one_of_two_at_the_second_place() {
        // Gain 1/log2(3); the best would be 1/log2(2) + 1/log2(3) = 1 + 0.63092975…
        let gain = 0.630_929_753_571_457_4 / 1.630_929_753_571_457_4;
        check(
            &["x", "a", "y"],
            &["a", "b"],
            &[
                ("R@1", 0.0),
                ("R@5", 0.5),
                ("R@20", 0.5),
                ("all@5", 0.0),
                ("any@1", 0.0),
                ("any@10", 1.0),
                ("MRR", 0.5),
                ("nDCG@10", gain),
            ],
        );
    }

    #[test]
    fn everything_and_nothing() {
        let full = ["R@1", "all@1", "any@1", "MRR", "nDCG@10"].map(|name| (name, 1.0));
        check(&["a"], &["a"], &full);
        let none = ["R@20", "all@20", "any@20", "MRR", "nDCG@10"].map(|name| (name, 0.0));
        check(&["x", "y"], &["a"], &none);
        check(&[], &["a"], &none);
    }

    #[test]
    fn what_lies_behind_a_cut_does_not_count() {
        let names: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let ranked: Vec<&str> = names.iter().map(String::as_str).collect();
        // Ranks 5, 11 and 20: one of three in the first five, two in neither ten nor more …
        check(
            &ranked,
            &["4", "10", "19"],
            &[
                ("R@1", 0.0),
                ("R@5", 1.0 / 3.0),
                ("R@10", 1.0 / 3.0),
                ("R@20", 1.0),
                ("all@10", 0.0),
                ("all@20", 1.0),
                ("MRR", 0.2),
                // … so the gain is that of rank 5 alone: 1/log2(6) over 1 + 1/log2(3) + 1/2.
                ("nDCG@10", 0.386_852_807_234_541_6 / 2.130_929_753_571_457_4),
            ],
        );
    }

    #[test]
    fn figures_that_are_not_there_have_no_value() {
        let scores = Scores::of(&["a"], &["a"]);
        for name in ["R@7", "R", "MRR@10", "nDCG@5", "F@1", ""] {
            assert_eq!(scores.get(name), None, "{name}");
        }
        assert!(COLUMNS.iter().all(|name| scores.get(name).is_some()));
    }

    #[test]
    fn means_and_times() {
        let rows = [Scores::of(&["a"], &["a", "b"]), Scores::of(&["a"], &["a"])];
        assert_eq!(mean(rows.iter(), "R@5"), 0.75);
        assert_eq!(mean([].iter(), "R@5"), 0.0);
        let times = (1..=20).rev().map(f64::from).collect();
        assert_eq!(Latency::of(times), Latency { p50_ms: 11.0, p95_ms: 20.0 });
        assert_eq!(Latency::of(vec![3.0]), Latency { p50_ms: 3.0, p95_ms: 3.0 });
    }

    #[test]
    fn sums_keep_small_parts() {
        assert_eq!(sum([1e16, 1.0, 1.0, -1e16].into_iter()), 2.0);
        assert_eq!(sum([0.1; 10].into_iter()), 1.0);
    }
}
