//! Showing: the best candidates are read once more under the pass of the search, and cut into
//! snippets. Whatever went away since is passed over, and so is what lacks a phrase of the query.
//!
//! Contents are read only where something is to be seen of them, and an answer holds about as many
//! bytes of them as it was asked for: results beyond come without.

use super::run::{Found, Prepared};
use super::stage::Stage;
use super::{Hit, SearchRequest};
use crate::compute::may_block;
use crate::{Engine, Result, damage};
use loci_model::limit::GUARDED_RESULTS_MAX;
use loci_model::policy::SearchPass;
use loci_model::{Memory, MemoryId, StoreId, View};
use loci_search::rank::Candidate;
use loci_search::text::Analyzer;
use loci_search::text::phrase::contains_phrase;
use loci_search::text::snippet::{Snippet, snippet};
use std::collections::HashMap;

/// Memories read at once: others wait for what reads them.
const READ_AT_ONCE: usize = 32;

/// Results, as far as they are found.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) hits: Vec<Hit>,
    /// Results that came without content because there was enough of it.
    pub(crate) contents_left_out: usize,
    /// Results that are left out because their contents cannot be read.
    pub(crate) damaged: Vec<(StoreId, MemoryId)>,
    content_bytes: usize,
}

impl Shown {
    /// How the next memories are to be read.
    pub(crate) fn view(&self, prepared: &Prepared) -> View {
        match prepared.needs_text() || self.has_room(&prepared.request) {
            true => View::Full,
            false => View::Basic,
        }
    }

    fn has_room(&self, request: &SearchRequest) -> bool {
        request.view == View::Full && self.content_bytes < request.content_bytes_max
    }

    /// Adds a memory, unless its text lacks a phrase.
    pub(crate) fn add(&mut self, prepared: &Prepared, memory: Memory, candidate: Candidate) {
        let Some(mut hit) = prepared.hit(memory, candidate) else { return };
        if hit.memory.content.is_some() && self.has_room(&prepared.request) {
            let bytes = usize::try_from(hit.memory.size_bytes).unwrap_or(usize::MAX);
            self.content_bytes = self.content_bytes.saturating_add(bytes);
        } else {
            hit.memory.content = None;
            self.contents_left_out += usize::from(prepared.request.view == View::Full);
        }
        self.hits.push(hit);
    }
}

impl Engine {
    /// Reads the best candidates under the same pass; to be computed.
    pub(super) async fn show(
        &self,
        pass: &SearchPass,
        stage: &Stage,
        found: Found,
    ) -> Result<Shown> {
        let Found { ranking, prepared, .. } = found;
        let limit = prepared.request.wanted.limit;
        let mut shown = Shown::default();
        let mut guarded: HashMap<StoreId, usize> = HashMap::new();
        let mut rest = ranking.candidates.into_iter().peekable();
        while shown.hits.len() < limit && rest.peek().is_some() {
            let count = READ_AT_ONCE.min(limit - shown.hits.len());
            let some: Vec<Candidate> = rest.by_ref().take(count).collect();
            let store = |candidate: &Candidate| stage.places[candidate.part].store;
            let ids: Vec<(StoreId, MemoryId)> =
                some.iter().map(|candidate| (store(candidate), candidate.memory)).collect();
            let mut found: HashMap<(StoreId, MemoryId), Memory> = HashMap::new();
            let view = shown.view(&prepared);
            let sound = damage::found(self.storage.as_ref(), pass, &ids, view).await?;
            // Of what may only be searched, nothing is told but results.
            let damaged = sound.damaged.into_iter();
            shown.damaged.extend(damaged.filter(|(store, _)| !pass.guarded().contains(store)));
            for memory in sound.memories {
                found.insert((memory.store, memory.id), memory);
            }
            for (candidate, id) in some.into_iter().zip(ids) {
                if pass.guarded().contains(&id.0) {
                    let shown = guarded.entry(id.0).or_default();
                    *shown += 1;
                    if *shown > GUARDED_RESULTS_MAX {
                        continue;
                    }
                }
                if let Some(memory) = found.remove(&id) {
                    shown.add(&prepared, memory, candidate);
                }
            }
        }
        Ok(shown)
    }
}

impl Prepared {
    /// Whether a result cannot be made without its text.
    fn needs_text(&self) -> bool {
        self.is_strict || self.request.snippet_chars > 0
    }

    /// A result, unless its text lacks a phrase.
    fn hit(&self, memory: Memory, candidate: Candidate) -> Option<Hit> {
        debug_assert!(may_block(), "cutting snippets computes");
        let snippet = match self.needs_text() {
            true => self.snippet(memory.content.as_ref()?.text()?)?,
            false => Snippet::default(),
        };
        let explanation = self.request.explain.then_some(candidate.why);
        Some(Hit { memory, score: candidate.score, snippet, explanation })
    }

    fn snippet(&self, text: &str) -> Option<Snippet> {
        let holds = |phrase: &[String]| contains_phrase(text, phrase);
        if self.is_strict && !self.query.phrases.iter().all(|phrase| holds(&phrase.words)) {
            return None;
        }
        Some(match self.request.snippet_chars {
            0 => Snippet::default(),
            chars => snippet(&Analyzer::new(), text, &self.query, chars),
        })
    }
}
