//! What an answer costs: how long somebody waits for it, and how long processors work for it. The
//! second says more on a machine that has other things to do.

use crate::samples::{Samples, timed};
use anyhow::Context;

/// Ticks in a second of `/proc`; Linux has no other number.
const TICKS: f64 = 100.0;
/// Times a block does its work at least, however long that takes.
pub(crate) const BLOCK_LEAST: usize = 16;

/// What one sort of answer costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Of all processors together, on average.
    pub(crate) processor_ms: f64,
}

/// A process whose work is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Worker {
    /// This one.
    Own,
    /// One by its id.
    Other(u32),
}

impl Worker {
    /// Seconds that processors have worked for it so far.
    pub(crate) fn processor_seconds(self) -> anyhow::Result<f64> {
        self.seconds(11)
    }

    /// Seconds that processors worked for those of its children that have ended.
    pub(crate) fn ended_children_seconds(self) -> anyhow::Result<f64> {
        self.seconds(13)
    }

    /// The sum of two fields of what the kernel tells, counted from behind the name: in the process
    /// itself and for it in the kernel.
    fn seconds(self, first: usize) -> anyhow::Result<f64> {
        let status = match self {
            Self::Own => std::fs::read_to_string("/proc/self/stat"),
            Self::Other(process) => std::fs::read_to_string(format!("/proc/{process}/stat")),
        }?;
        // The name is in brackets and may hold anything.
        let (_, rest) = status.rsplit_once(')').context("a process without a name")?;
        let ticks: Vec<&str> = rest.split_whitespace().skip(first).take(2).collect();
        let ticks = ticks.iter().map(|ticks| ticks.parse::<f64>()).sum::<Result<f64, _>>()?;
        Ok(ticks / TICKS)
    }
}

/// One sort of answer, block by block.
#[derive(Debug, Default)]
pub(crate) struct Account {
    samples: Samples,
    processor_seconds: f64,
}

impl Account {
    /// Adds a block: does something over and over for a while.
    pub(crate) fn block(
        &mut self,
        worker: Worker,
        seconds: f64,
        work: impl FnMut(usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let before = worker.processor_seconds()?;
        self.samples.extend(timed(seconds, BLOCK_LEAST, work)?);
        self.processor_seconds += worker.processor_seconds()? - before;
        Ok(())
    }

    /// Adds a block that was done elsewhere.
    pub(crate) fn add(&mut self, samples: Samples, processor_seconds: f64) {
        self.samples.extend(samples);
        self.processor_seconds += processor_seconds;
    }

    /// The sum of it.
    pub(crate) fn cost(self) -> anyhow::Result<Cost> {
        let processor_ms = self.processor_seconds * 1e3 / self.samples.len().max(1) as f64;
        let rate = self.samples.rate()?;
        Ok(Cost { p50_ms: rate.p50_ms, p99_ms: rate.p99_ms, processor_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted() {
        let mut account = Account::default();
        let mut sum = 0u64;
        let spin = |n: usize| {
            for more in 0..2_000_000u64 {
                sum = std::hint::black_box(sum.wrapping_add(more * n as u64));
            }
            Ok(())
        };
        account.block(Worker::Own, 0.2, spin).unwrap();
        let cost = account.cost().unwrap();
        assert!(cost.processor_ms > 0.0 && cost.p50_ms > 0.0);
    }
}
