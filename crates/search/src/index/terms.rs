//! The words a memory is indexed by, apart from any index: how a text is cut into pieces, what of a
//! path counts, and all of it together as a set, for those who keep words as rows. Whatever the index
//! finds a memory by is in that set.

use super::{PIECE_WORDS, SHORT_CHARS_MAX};
use crate::text::Analyzer;
use crate::text::windows::word_passages;
use loci_model::limit;
use std::collections::BTreeSet;
use std::ops::Range;

/// Whether a text is indexed as one piece, and read together with its neighbours.
pub(super) fn is_short(text: &str) -> bool {
    text.chars().nth(SHORT_CHARS_MAX).is_none()
}

/// The pieces of a text that are scored by themselves.
pub(super) fn pieces(text: &str) -> Vec<Range<usize>> {
    if is_short(text) {
        std::iter::once(0..text.len()).collect()
    } else {
        word_passages(text, PIECE_WORDS)
    }
}

/// What a file is called matters, its extension does not.
pub(super) fn stem(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 4 && !extension.contains('/') => stem,
        _ => path,
    }
}

/// The distinct words of a memory's text, path and other names, sorted. Of a text with more words than are
/// kept, those that come first; of a word that is too long, its beginning.
pub fn terms_of(text: &str, path: &str, names: &[String]) -> Vec<String> {
    let analyzer = Analyzer::new();
    let (mut terms, mut bytes) = (BTreeSet::new(), 0);
    let mut add = |term: &str| {
        let term = cut(term);
        let has_room =
            terms.len() < limit::INDEX_WORDS_MAX && bytes + term.len() <= limit::INDEX_BYTES_MAX;
        if has_room && !term.is_empty() && !terms.contains(term) {
            bytes += term.len();
            terms.insert(term.to_owned());
        }
    };
    analyzer.terms(stem(path), |term| add(term.text));
    for name in names {
        analyzer.terms(name, |term| add(term.text));
    }
    for piece in pieces(text) {
        analyzer.terms(&text[piece], |term| add(term.text));
    }
    terms.into_iter().collect()
}

/// A word as it is kept.
pub fn cut(term: &str) -> &str {
    &term[..term.floor_char_boundary(limit::INDEX_WORD_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::StoreIndex;
    use crate::index::fixture::{memory, with_tags};

    #[test]
    fn whatever_the_index_knows_a_memory_by_is_among_its_words() {
        let long = "The heron stood in the shallow water for an hour. ".repeat(40) + "猫が好きです";
        for text in ["Jon: we met in Oslo", "the of and", "", long.as_str()] {
            let mut memory = with_tags(memory(1, "/birds/heron-notes.md", text), &["Field Work"]);
            memory.attributes.summary = Some("What was seen by the lake".into());
            let mut index = StoreIndex::new();
            index.put(&memory);
            let words = terms_of(text, memory.path.as_str(), &memory.attributes.names());
            let mut indexed: Vec<&str> =
                index.words().terms().chain(index.names().terms()).collect();
            indexed.sort_unstable();
            indexed.dedup();
            assert_eq!(words, indexed);
        }
    }

    #[test]
    fn words_are_kept_within_their_limits() {
        let many: String = (0..limit::INDEX_WORDS_MAX + 500).map(|n| format!("word{n} ")).collect();
        assert_eq!(terms_of(&many, "/a", &[]).len(), limit::INDEX_WORDS_MAX);
        let long = "é".repeat(limit::INDEX_WORD_BYTES_MAX);
        assert!(
            terms_of(&long, "/a", &[]).iter().all(|word| word.len() <= limit::INDEX_WORD_BYTES_MAX)
        );
    }
}
