//! An embedder for tests: every word has a direction of its own, and a text points to the sum of its
//! words. Texts that share words are near each other; the same text gives the same vector, on every
//! machine, without a model. It can be told to fail.

use loci_engine::search::embed::{EmbedError, Embedder, Purpose};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A word it refuses for good.
pub(crate) const UNEMBEDDABLE: &str = "unembeddable";

/// Adds up words.
pub(crate) struct WordSum {
    model: String,
    dims: usize,
    is_broken: AtomicBool,
    asked: AtomicU64,
}

impl WordSum {
    pub(crate) fn new(model: &str, dims: usize) -> Self {
        Self {
            model: model.into(),
            dims,
            is_broken: AtomicBool::new(false),
            asked: AtomicU64::new(0),
        }
    }

    /// From now on it fails, or works again.
    #[allow(dead_code, reason = "not every test that shares this file breaks it")]
    pub(crate) fn set_broken(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::SeqCst);
    }

    /// How many texts it was asked for so far.
    #[allow(dead_code, reason = "not every test that shares this file counts")]
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        // No text is without a direction.
        let mut sum = vec![0.0f32; self.dims];
        sum[0] = 0.01;
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let mut state =
                word.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                });
            for number in &mut sum {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *number += f32::from((state >> 48) as u16) / 32_768.0 - 1.0;
            }
        }
        let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
        sum.into_iter().map(|number| number / length).collect()
    }
}

impl Embedder for WordSum {
    fn model(&self) -> &str {
        &self.model
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.asked.fetch_add(texts.len() as u64, Ordering::SeqCst);
        if self.is_broken.load(Ordering::SeqCst) {
            return Err(EmbedError::Unavailable("told to fail".into()));
        }
        if texts.iter().any(|text| text.contains(UNEMBEDDABLE)) {
            return Err(EmbedError::Refused("a text it never takes".into()));
        }
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}
