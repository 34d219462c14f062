//! How long things took, and what is told of it: a rate, the median, and what the slowest hundredth
//! took.

use anyhow::ensure;
use std::time::{Duration, Instant};

/// What one run measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) per_second: f64,
    /// What the quickest quarter took at most: what other work on the machine disturbs least.
    pub(crate) p25_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// How long each of some exchanges took, and all of them together by the clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    micros: Vec<u32>,
    seconds: f64,
}

impl Samples {
    /// Adds one.
    pub(crate) fn push(&mut self, took: Duration) {
        self.micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    /// Does something and adds how long it took, to the time by the clock too.
    pub(crate) fn time<T, E>(&mut self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let start = Instant::now();
        let done = work()?;
        let took = start.elapsed();
        self.push(took);
        self.took(took);
        Ok(done)
    }

    /// Adds those of another run, or of another connection of the same.
    pub(crate) fn extend(&mut self, other: Self) {
        self.micros.extend(other.micros);
        self.seconds += other.seconds;
    }

    /// Adds to the time by the clock.
    pub(crate) fn took(&mut self, elapsed: Duration) {
        self.seconds += elapsed.as_secs_f64();
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.micros.len()
    }

    /// The sum of it.
    pub(crate) fn rate(mut self) -> anyhow::Result<Rate> {
        ensure!(!self.micros.is_empty(), "nothing was done in time");
        self.micros.sort_unstable();
        let last = (self.micros.len() - 1) as f64;
        let at = |share: f64| f64::from(self.micros[(last * share) as usize]) / 1e3;
        let per_second = self.micros.len() as f64 / self.seconds;
        Ok(Rate { per_second, p25_ms: at(0.25), p50_ms: at(0.5), p99_ms: at(0.99) })
    }
}

/// Does something over and over for a while, and at least so often; it is told how often it was done.
pub(crate) fn timed(
    seconds: f64,
    least: usize,
    mut work: impl FnMut(usize) -> anyhow::Result<()>,
) -> anyhow::Result<Samples> {
    let start = Instant::now();
    let mut samples = Samples::default();
    while samples.len() < least || start.elapsed().as_secs_f64() < seconds {
        let n = samples.len();
        samples.time(|| work(n))?;
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_tells_the_median_and_the_slowest() {
        let mut samples = Samples::default();
        for ms in (1..=101).rev() {
            samples.push(Duration::from_millis(ms));
        }
        samples.took(Duration::from_secs(2));
        let rate = samples.rate().unwrap();
        assert_eq!((rate.per_second, rate.p50_ms, rate.p99_ms), (50.5, 51.0, 100.0));
    }

    #[test]
    fn nothing_has_no_rate() {
        assert!(Samples::default().rate().is_err());
    }
}
