//! Randomness that can be repeated from a seed.

/// A SplitMix64 generator; good enough to choose what to do next.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not zero.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).expect("the remainder fits, `end` did")
    }
}
