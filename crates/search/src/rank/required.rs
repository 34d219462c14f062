//! Words a result must hold because the query has them in quotes. Whether they stand side by side
//! is for whoever has the text to see; here everything goes that cannot hold the phrase at all.

use crate::index::StoreIndex;
use crate::text::TextQuery;

pub(super) struct RequiredWords {
    terms: Vec<String>,
}

impl RequiredWords {
    pub(super) fn new(query: &TextQuery) -> Self {
        let mut terms: Vec<String> =
            query.phrases.iter().flat_map(|phrase| phrase.terms.iter().cloned()).collect();
        terms.sort_unstable();
        terms.dedup();
        Self { terms }
    }

    pub(super) fn are_in(&self, index: &StoreIndex, doc: u32) -> bool {
        let units = index.doc(doc).units();
        self.terms
            .iter()
            .all(|term| index.words().get(term).is_some_and(|places| places.meets(units.clone())))
    }
}
