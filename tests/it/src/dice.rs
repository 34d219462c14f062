//! What the environment says of a run: how much it does, whether times count, and its randomness,
//! which can be repeated: a failing test prints its seed, `LOCI_SEED` rolls it again.

use std::time::Duration;

/// How long to wait for what has to come, where times do not count.
const LIVENESS: Duration = Duration::from_secs(60);

/// How much of something a run does: what the environment says, for longer runs, or the usual.
pub fn amount(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Whether times count: only in the deep tier, on a machine that does nothing else.
pub fn timing_budgets() -> bool {
    std::env::var("LOCI_TEST_TIER").is_ok_and(|tier| tier == "deep")
}

/// The time that something may take: this where times count, and long enough for any machine where
/// they do not.
pub fn budget(limit: Duration) -> Duration {
    if timing_budgets() { limit } else { limit.max(LIVENESS) }
}

/// A SplitMix64 generator; good enough to choose what to break next.
#[derive(Clone, Debug)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Seeded from `LOCI_SEED` or from the system; says which, for the log of a failed run.
    pub fn new(what: &str) -> Self {
        let seed = match std::env::var("LOCI_SEED").ok().and_then(|text| text.parse().ok()) {
            Some(seed) => seed,
            None => {
                let mut bytes = [0; 8];
                getrandom::fill(&mut bytes).expect("the system has randomness");
                u64::from_le_bytes(bytes)
            }
        };
        eprintln!("{what}: LOCI_SEED={seed}");
        Self { state: seed }
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
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).expect("the remainder fits, `end` did")
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
