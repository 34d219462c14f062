//! Vectors without the hours it takes to make a million of them: each is a mixture of two real ones
//! and some noise. They are spread as real ones are, but say nothing about the text they go with, so
//! they are good for measuring time and memory and nothing else.

use super::corpus::{Corpus, Dice};
use loci_search::embed::{Builtin, Embedder, Purpose};
use std::time::Instant;

/// Real vectors that are mixed.
const REAL_MAX: u64 = 2_000;
/// Texts embedded together, as the server does.
const AT_ONCE: usize = 32;
/// The most that noise adds to each number; about a third of a vector's length in all.
const NOISE: f64 = 0.03;

/// Real vectors and the model that made them.
pub(crate) struct Meanings {
    pub(crate) embedder: Builtin,
    real: Vec<Vec<f32>>,
    /// How many texts a second were embedded, on one thread.
    pub(crate) per_second: f64,
}

impl Meanings {
    /// Embeds a few of the texts, for collections of up to so many.
    pub(crate) fn new(corpus: &Corpus, largest: u64) -> anyhow::Result<Self> {
        let embedder = Builtin::new();
        embedder.embed(&["loads the model"], Purpose::Passage)?;
        let texts: Vec<String> =
            (0..REAL_MAX.min(largest / 5).max(2)).map(|n| corpus.text(n)).collect();
        let start = Instant::now();
        let mut real = Vec::with_capacity(texts.len());
        for some in texts.chunks(AT_ONCE) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            real.extend(embedder.embed(&some, Purpose::Passage)?);
        }
        let per_second = texts.len() as f64 / start.elapsed().as_secs_f64();
        Ok(Self { embedder, real, per_second })
    }

    /// The vector of a memory.
    pub(crate) fn vector(&self, n: u64) -> Vec<f32> {
        let mut dice = Dice::new(4, n);
        let mut pick = || &self.real[dice.next() as usize % self.real.len()];
        let (one, other) = (pick(), pick());
        let share = 0.2 + 0.6 * dice.share();
        let mut noise = || NOISE * (2.0 * dice.share() - 1.0);
        let mixed: Vec<f64> = one
            .iter()
            .zip(other)
            .map(|(x, y)| share * f64::from(*x) + (1.0 - share) * f64::from(*y) + noise())
            .collect();
        let length = mixed.iter().map(|x| x * x).sum::<f64>().sqrt();
        mixed.into_iter().map(|x| (x / length) as f32).collect()
    }
}
