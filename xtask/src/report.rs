//! The report of one `cargo xtask` command: its steps, how each ended, and the slowest tests.
//!
//! The command fails if any step did; a failed step never hides the ones after it.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use loci_test_kit::PROPERTY_SEED;

use crate::tally::Tally;
use crate::timings::Timing;

/// How many of the slowest tests are named.
const SLOWEST: usize = 10;

/// One step that has ended.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) tally: Tally,
    pub(crate) ok: bool,
    pub(crate) took: Duration,
    /// What a person needs to know of a step that failed.
    pub(crate) why: String,
    pub(crate) timings: Vec<Timing>,
}

/// Whether this is a run of CI.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The steps of one command.
pub(crate) struct Report {
    entries: Vec<Entry>,
    skips_allowed: bool,
    seed: Option<u64>,
    began: Instant,
}

impl Report {
    /// With `CI=true` a skipped test is a failed one: CI must see everything run.
    pub(crate) fn of_environment() -> Self {
        Self::new(!is_ci())
    }

    pub(crate) fn new(skips_allowed: bool) -> Self {
        Self { entries: Vec::new(), skips_allowed, seed: None, began: Instant::now() }
    }

    /// The seed of the property tests, to be named once more at the end.
    pub(crate) fn with_seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Runs `work` as the step `name`; its result if it went well.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        println!("\n── {name}");
        let start = Instant::now();
        let (done, why) = match work() {
            Ok(done) => (Some(done), String::new()),
            Err(error) => (None, format!("{error:#}")),
        };
        let tally = Tally { failed: u64::from(done.is_none()), ..Tally::default() };
        let took = start.elapsed();
        let ok = done.is_some();
        self.add(Entry { name: name.to_owned(), tally, ok, took, why, timings: Vec::new() });
        done
    }

    /// Adds a step and prints how it ended.
    pub(crate) fn add(&mut self, mut entry: Entry) {
        if entry.tally.skipped > 0 && !self.skips_allowed {
            writeln!(
                entry.why,
                "{} tests were skipped, which CI does not allow",
                entry.tally.skipped
            )
            .expect("writing to a string cannot fail");
            entry.tally.failed += entry.tally.skipped;
            entry.ok = false;
        }
        if !entry.ok {
            println!("{}", entry.why);
        }
        println!(
            "── {}: {} in {:.1} s ({} passed; {:.0} s since the start)",
            entry.name,
            if entry.ok { "ok" } else { "FAILED" },
            entry.took.as_secs_f64(),
            entry.tally.passed,
            self.began.elapsed().as_secs_f64(),
        );
        self.entries.push(entry);
    }

    /// Takes over the steps of another report.
    pub(crate) fn take(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// The sum of all steps.
    pub(crate) fn sum(&self) -> Tally {
        let mut sum = Tally::default();
        self.entries.iter().for_each(|entry| sum.add(entry.tally));
        sum
    }

    /// Prints the table, the slowest tests and the one line that sums it up; an error if anything
    /// failed.
    pub(crate) fn finish(self) -> Result<()> {
        let mut failed = self.entries.iter().filter(|entry| !entry.ok).peekable();
        if failed.peek().is_some() {
            println!("\nWhat failed:");
            failed.for_each(|entry| println!("\n── {}\n{}", entry.name, entry.why));
        }
        print!("\n{}", self.table());
        let failed = self.entries.iter().filter(|entry| !entry.ok).count();
        if failed > 0 {
            bail!("{failed} of {} steps failed", self.entries.len());
        }
        Ok(())
    }

    fn table(&self) -> String {
        let width = self.entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments<'_>| {
            text.write_fmt(words)
                .and_then(|()| text.write_char('\n'))
                .expect("writing to a string cannot fail");
        };
        line(format_args!("{:width$}  result  passed  failed  skipped    time", "step"));
        for entry in &self.entries {
            line(format_args!(
                "{:width$}  {:6}  {:>6}  {:>6}  {:>7}  {:>4.0} s",
                entry.name,
                if entry.ok { "ok" } else { "FAILED" },
                entry.tally.passed,
                entry.tally.failed,
                entry.tally.skipped,
                entry.took.as_secs_f64(),
            ));
        }
        line(format_args!("{:width$}  {:>37.0} s", "all", self.began.elapsed().as_secs_f64()));
        if let Some(seed) = self.seed {
            line(format_args!("\nproperty tests: {PROPERTY_SEED}={seed}"));
        }
        let mut slowest: Vec<(&Timing, &str)> = (self.entries.iter())
            .flat_map(|entry| entry.timings.iter().map(|timing| (timing, entry.name.as_str())))
            .collect();
        slowest.sort_by(|one, other| other.0.secs.total_cmp(&one.0.secs));
        if !slowest.is_empty() {
            line(format_args!("\nslowest tests"));
        }
        for (timing, step) in slowest.into_iter().take(SLOWEST) {
            line(format_args!("{:>6.1} s  {}  ({step})", timing.secs, timing.test));
        }
        let sum = self.sum();
        line(format_args!("\n{} passed, {} failed", sum.passed, sum.failed));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, passed: u64, failed: u64, skipped: u64) -> Entry {
        let tally = Tally { passed, failed, skipped };
        let timings = vec![Timing { test: format!("{name} test"), secs: passed as f64 }];
        let took = Duration::ZERO;
        Entry { name: name.into(), tally, ok: failed == 0, took, why: String::new(), timings }
    }

    #[test]
    fn the_sum_line_stands_alone_and_counts_broken_steps() {
        let mut report = Report::new(true);
        report.add(entry("good", 4, 0, 1));
        report.add(entry("bad", 2, 3, 0));
        assert!(report.step("broken", || -> Result<()> { bail!("did not build") }).is_none());
        assert_eq!(report.table().lines().last(), Some("6 passed, 4 failed"));
        assert!(report.table().contains("   4.0 s  good test  (good)\n   2.0 s  bad test"));
        assert!(!report.table().contains(PROPERTY_SEED));
        let report = report.with_seed(7);
        assert!(report.table().contains("\nproperty tests: PROPTEST_RNG_SEED=7\n"));
        assert!(report.finish().is_err());
    }

    #[test]
    fn skips_fail_where_they_are_not_allowed() {
        let mut report = Report::new(false);
        report.add(entry("partly", 4, 0, 1));
        assert!(report.finish().is_err());
    }
}
