//! Random histories, played on an engine and on the oracle side by side. After every step both must
//! have answered alike, and at the end they must hold the same, down to the numbers of the feed. A
//! failing history is shrunk to a short one.
//!
//! [`race`] is the other half: many callers of several servers at once, whose answers must be those
//! of some order.

mod copy;
mod credentials;
mod dump;
mod groups;
mod order;
mod pair;
mod plan;
pub mod race;
mod readings;
mod side;
mod stamp;
mod vectors;

use super::Harness;
use async_trait::async_trait;
use loci_storage::Storage;
use loci_test_kit::{amount, property_seed};
use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};
use std::sync::Arc;

const STEPS_MAX: usize = 60;
const SHRINK_MAX: u32 = 2000;
const SHRINK_MILLIS: u32 = 30_000;

/// Makes engines that outlive a process.
#[async_trait]
pub trait Durable: Harness {
    /// The engine once more, after the last one was dropped.
    async fn reopen(place: &Self::Guard) -> Arc<dyn Storage>;
}

/// Plays histories on engines of a harness. `histories` is their number in the
/// table of amounts. A failed history is written down beside the source file, to be played first from
/// then on.
pub fn agree<H: Durable>(histories: &str, source_file: &'static str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config {
        cases: u32::try_from(amount(histories)).expect("amounts of histories fit"),
        max_shrink_iters: SHRINK_MAX,
        max_shrink_time: SHRINK_MILLIS,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        source_file: Some(source_file),
        rng_seed: RngSeed::Fixed(property_seed(histories)),
        ..Config::default()
    };
    let history = proptest::collection::vec(plan::step(), 1..=STEPS_MAX);
    let played = TestRunner::new(config).run(&history, |steps| {
        runtime.block_on(pair::play::<H>(&steps));
        Ok(())
    });
    if let Err(failure) = played {
        panic!("{failure}");
    }
}
