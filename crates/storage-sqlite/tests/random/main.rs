//! Random histories, played on SQLite and on the in-memory engine side by side. After every step
//! both must have answered alike, and at the end they must hold the same, down to the numbers of
//! the feed. A failing history is shrunk to a short one.
//!
//! `LOCI_RANDOM_CASES` sets how many histories are played.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod copy;
mod dump;
mod pair;
mod plan;
mod vectors;

use proptest::test_runner::{Config, FileFailurePersistence, TestRunner};

const CASES_DEFAULT: u32 = 256;
const STEPS_MAX: usize = 60;

#[test]
fn sqlite_agrees_with_the_oracle() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let config = Config {
        cases: cases_wanted(),
        max_shrink_iters: 2000,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        source_file: Some(file!()),
        ..Config::default()
    };
    let history = proptest::collection::vec(plan::step(), 1..=STEPS_MAX);
    let played = TestRunner::new(config).run(&history, |steps| {
        runtime.block_on(pair::play(&steps));
        Ok(())
    });
    if let Err(failure) = played {
        panic!("{failure}");
    }
}

#[allow(clippy::disallowed_methods, reason = "a test has no configuration but its environment")]
fn cases_wanted() -> u32 {
    let wanted = std::env::var("LOCI_RANDOM_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(CASES_DEFAULT)
}
