//! A digest of many values. A value goes in as its debug text, which shows every field it has, also
//! those that are added one day; only content hides there, so its own digest goes in beside it,
//! taken anew from the bytes that were read.
//!
//! Both sides of a comparison are folded by the same binary, so the text need not be stable.

use loci_model::{Content, Digest};
use sha2::{Digest as _, Sha256};
use std::fmt::{Debug, Write};

/// What is being folded.
#[derive(Default)]
pub(super) struct Fold {
    hash: Sha256,
    count: u64,
    text: String,
}

/// How many values there were, and their digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) count: u64,
    pub(super) digest: [u8; 32],
}

impl Fold {
    pub(super) fn add(&mut self, value: &dyn Debug) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        write!(text, "{value:?}").expect("a string takes everything");
        self.add_bytes(text.as_bytes());
        self.text = text;
    }

    /// A value and the content it holds.
    pub(super) fn add_with(&mut self, value: &dyn Debug, content: Option<&Content>) {
        let digest = content.map(Content::digest);
        self.add(&(value, digest.as_ref().map(Digest::as_bytes)));
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_be_bytes());
        self.hash.update(bytes);
        self.count += 1;
    }

    /// A named row of bytes.
    pub(super) fn add_row(&mut self, name: &dyn Debug, bytes: &[u8]) {
        self.add(&(name, Sha256::digest(bytes)));
    }

    pub(super) fn end(self) -> Folded {
        Folded { count: self.count, digest: self.hash.finalize().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(values: &[&str]) -> Folded {
        let mut fold = Fold::default();
        values.iter().for_each(|value| fold.add(value));
        fold.end()
    }

    #[test]
    fn every_value_and_every_border_counts() {
        assert_eq!(folded(&["a", "b"]), folded(&["a", "b"]));
        for other in [&["b", "a"][..], &["ab"], &["a"], &["a", "b", ""], &[]] {
            assert_ne!(folded(&["a", "b"]), folded(other));
        }
    }

    #[test]
    fn content_counts_though_it_does_not_show() {
        let folded = |text: &str| {
            let content = Content::Text(text.to_owned());
            let mut fold = Fold::default();
            fold.add_with(&content, Some(&content));
            fold.end()
        };
        assert_eq!(folded("same"), folded("same"));
        assert_ne!(folded("same"), folded("diff"), "as many bytes, and other ones");
    }
}
