//! Which memories count at all: those the filter lets through, and, where the query is nothing but
//! phrases in quotes, those that hold all their words. Whether the words stand side by side is for
//! whoever has the text to see; here everything goes that cannot hold the phrase.

use super::Question;
use crate::index::{NONE, Sieve, StoreIndex};

pub(super) struct Gate<'q> {
    indexes: &'q [&'q StoreIndex],
    sieve: Sieve<'q>,
    required: Vec<&'q str>,
    /// By part and document, once it was decided about all.
    decided: Vec<Vec<bool>>,
}

impl<'q> Gate<'q> {
    pub(super) fn new(indexes: &'q [&'q StoreIndex], question: &'q Question<'q>) -> Self {
        let phrases = question.query.phrases.iter().filter(|_| question.is_strict);
        let mut required: Vec<&str> =
            phrases.flat_map(|phrase| &phrase.terms).map(String::as_str).collect();
        required.sort_unstable();
        required.dedup();
        let sieve = Sieve::new(&question.wanted.filter);
        Self { indexes, sieve, required, decided: Vec::new() }
    }

    /// Whether everything passes.
    pub(super) fn is_open(&self) -> bool {
        self.sieve.is_open() && self.required.is_empty()
    }

    pub(super) fn lets_through(&self, part: usize, doc: u32) -> bool {
        if self.is_open() {
            return true;
        }
        match self.decided.get(part) {
            Some(decided) => decided[doc as usize],
            None => self.decide(part, doc),
        }
    }

    fn decide(&self, part: usize, doc: u32) -> bool {
        let index = self.indexes[part];
        let units = index.mark(doc).units();
        let is_in =
            |term: &&str| index.words().get(term).is_some_and(|places| places.meets(units.clone()));
        self.sieve.lets_through(&index.doc(doc).filtered()) && self.required.iter().all(is_in)
    }

    /// Decides about every memory, so that none is looked at twice.
    pub(super) fn decide_all(&mut self) {
        if self.is_open() {
            return;
        }
        let decided = (0..self.indexes.len()).map(|part| {
            let mut decided = vec![false; self.indexes[part].doc_slots()];
            match self.rarest_required(part) {
                Some(docs) => {
                    for doc in docs {
                        decided[doc as usize] = decided[doc as usize] || self.decide(part, doc);
                    }
                }
                None => {
                    for doc in self.indexes[part].live() {
                        decided[doc as usize] = self.decide(part, doc);
                    }
                }
            }
            decided
        });
        self.decided = decided.collect();
    }

    /// The memories that hold the rarest of the words that are required, if any are.
    fn rarest_required(&self, part: usize) -> Option<Vec<u32>> {
        let index = self.indexes[part];
        let lists = self.required.iter().map(|term| index.words().get(term));
        let rarest = lists.min_by_key(|list| list.map_or(0, |list| list.len()))?;
        let docs = rarest.into_iter().flat_map(|list| list.iter());
        let owner = |(unit, _)| index.unit(unit).doc;
        Some(docs.map(owner).filter(|doc| *doc != NONE).collect())
    }

    /// What passes of a part that was decided about.
    pub(super) fn passing(&self, part: usize) -> impl Iterator<Item = u32> {
        let all = self.decided.get(part).map_or(&[][..], Vec::as_slice);
        (0u32..).zip(all).filter(|(_, passes)| **passes).map(|(doc, _)| doc)
    }
}
