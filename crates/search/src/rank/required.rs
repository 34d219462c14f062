//! Words a result must hold because the query is nothing but them, in quotes. Whether they stand side by side
//! is for whoever has the text to see; here everything goes that cannot hold the phrase at all.

use super::Question;
use crate::index::StoreIndex;

pub(super) struct RequiredWords {
    terms: Vec<String>,
}

impl RequiredWords {
    pub(super) fn new(question: &Question<'_>) -> Self {
        let phrases = question.query.phrases.iter().filter(|_| question.is_strict);
        let mut terms: Vec<String> =
            phrases.flat_map(|phrase| phrase.terms.iter().cloned()).collect();
        terms.sort_unstable();
        terms.dedup();
        Self { terms }
    }

    pub(super) fn are_in(&self, index: &StoreIndex, doc: u32) -> bool {
        let units = index.mark(doc).units();
        self.terms
            .iter()
            .all(|term| index.words().get(term).is_some_and(|places| places.meets(units.clone())))
    }
}
