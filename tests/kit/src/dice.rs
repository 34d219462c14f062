//! Randomness that can be repeated: a test prints its seed, and `LOCI_SEED` replays it. For tests that
//! use proptest it is `PROPTEST_RNG_SEED`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The increment of SplitMix64: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The variable that proptest reads its seed from.
pub const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";
/// The variable that proptest reads the number of cases from.
pub const PROPERTY_CASES: &str = "PROPTEST_CASES";

/// The seed that `LOCI_SEED` names, to replay one run.
pub fn named_seed() -> Option<u64> {
    std::env::var("LOCI_SEED").ok().and_then(|text| text.parse().ok())
}

/// The seed of a run: `LOCI_SEED`, or `otherwise`. Prints the seed, for the log of a failed run.
pub fn seed_or(what: &str, otherwise: impl FnOnce() -> u64) -> u64 {
    let seed = named_seed().unwrap_or_else(otherwise);
    eprintln!("{what}: LOCI_SEED={seed}");
    seed
}

/// The seed of tests that use proptest: `PROPTEST_RNG_SEED`, which `cargo xtask` sets for all of
/// them, or one from the system. Prints the seed, for the log of a failed run.
pub fn property_seed(what: &str) -> u64 {
    let named = std::env::var(PROPERTY_SEED).ok().and_then(|text| text.parse().ok());
    let seed = named.unwrap_or_else(system_seed);
    eprintln!("{what}: {PROPERTY_SEED}={seed}");
    seed
}

fn system_seed() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    u64::from_le_bytes(bytes)
}

/// Bytes that look random and are the same in every run, for the ids of an engine under test.
/// `first` is the number of the first eight bytes.
pub fn counting_bytes(first: u64) -> impl Fn(&mut [u8]) + Send + Sync + 'static {
    let count = AtomicU64::new(first);
    move |buffer| {
        for chunk in buffer.chunks_mut(8) {
            let bytes = count.fetch_add(1, Ordering::Relaxed).wrapping_mul(GOLDEN).to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// A SplitMix64 generator; good enough to choose what to do or to break next.
#[derive(Clone, Debug)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Seeded from `LOCI_SEED` or from the system; prints the seed.
    pub fn new(what: &str) -> Self {
        Self::seeded(seed_or(what, system_seed))
    }

    /// From this seed, for runs that are counted.
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// An independent generator, for another thread.
    pub fn split(&mut self) -> Self {
        Self { state: self.roll() }
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).expect("the remainder fits, `end` did")
    }

    /// A number from `from` to `to`, both included.
    pub fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// True `chance` times in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Bits for an id; later ids are not larger, so that nothing depends on their order.
    pub fn bits(&mut self) -> u128 {
        u128::from(self.roll()) << 64 | u128::from(self.roll())
    }

    /// A number from 0 to 1.
    pub fn share(&mut self) -> f32 {
        self.below(1001) as f32 / 1000.0
    }

    /// A time between two others, in milliseconds.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.roll() % (to - from))
    }

    /// Lower-case hex digits, `length` of them.
    pub fn hex(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            text.push_str(&format!("{:016x}", self.roll()));
        }
        text.truncate(length);
        text
    }

    /// Letters of both cases, `length` of them: one word for every tokenizer.
    pub fn letters(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        (0..length).map(|_| char::from(LETTERS[self.below(LETTERS.len())])).collect()
    }
}
