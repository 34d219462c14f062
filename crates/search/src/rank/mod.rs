//! Ranking: two legs are normalised over everything that is searched, put together, moved by what
//! else is known (author, directory, recency, importance, pin), and cut to a shortlist. A pure
//! function of the indexes and the query.

mod best;
mod boost;
mod dense;
mod diversity;
mod fuse;
mod gate;
mod lexical;
mod tally;

pub use lexical::{LexicalLeg, LookupWord, lexical_leg, lookup_words};

use crate::index::{Authors, StoreIndex};
use crate::text::TextQuery;
use crate::text::author::without_names;
use crate::vector::QueryVector;
use crate::wanted::{Explanation, Mode, Wanted};
use best::Best;
use dense::{Scope, dense_leg};
use fuse::{Fused, Scored};
use gate::Gate;
use loci_model::{MemoryId, Timestamp, VersionId};

/// Documents of the lexical leg that the leg by meaning compares in any case.
const LEXICAL_COMPARED: usize = 500;

/// One index of a search, with the query as its model embeds it.
pub type Part<'a> = (&'a StoreIndex, Option<&'a QueryVector>);

/// One candidate.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// In which part.
    pub part: usize,
    /// Which memory.
    pub memory: MemoryId,
    /// Which version of it.
    pub head: VersionId,
    /// How good.
    pub score: f32,
    /// Why.
    pub why: Explanation,
    doc: u32,
    /// How much of its normalised similarity is its own, per unit of similarity.
    own_share: f32,
}

/// Candidates, best first.
#[derive(Debug)]
pub struct Ranking {
    /// The candidates.
    pub candidates: Vec<Candidate>,
    is_convex: bool,
}

/// What ranking looks at beside the indexes.
#[derive(Debug)]
pub struct Question<'q> {
    /// What is asked for.
    pub wanted: &'q Wanted,
    /// Its words.
    pub query: &'q TextQuery,
    /// Whether results must hold the words of its phrases.
    pub is_strict: bool,
    /// The authors it names.
    pub authors: &'q [String],
    /// How far the models that compared it can be trusted with its language, 0 to 1.
    pub trust: f32,
    /// The present, for recency.
    pub now: Timestamp,
    /// How many candidates to keep.
    pub depth: usize,
}

/// The authors a query names, among those of the indexes.
pub fn named_authors(indexes: &[&StoreIndex], text: &str) -> Vec<String> {
    let words: Vec<String> = text
        .to_lowercase()
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let mut names: Vec<String> =
        indexes.iter().flat_map(|index| index.authors().named(&words)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        Authors::is_author(indexes.iter().map(|index| index.authors().memories(name)).sum())
    });
    names
}

/// The text to embed: the query without the names of authors, which would otherwise find what was
/// said to them rather than by them.
pub fn text_to_embed(authors: &[String], text: &str) -> String {
    let names: Vec<&str> = authors.iter().map(String::as_str).collect();
    if names.is_empty() { text.to_owned() } else { without_names(text, &names) }
}

/// Ranks everything the filter lets through and keeps the best.
pub fn rank(parts: &[Part<'_>], lexical: &LexicalLeg, question: &Question<'_>) -> Ranking {
    let indexes: Vec<&StoreIndex> = parts.iter().map(|(index, _)| *index).collect();
    let mut gate = Gate::new(&indexes, question);
    let dense = match question.wanted.mode {
        Mode::Lexical => None,
        Mode::Hybrid | Mode::Semantic => {
            gate.decide_all();
            let also = best_by_word(&indexes, lexical, &gate);
            Some(dense_leg(parts, &gate, Scope::new(parts, &gate), also))
        }
    };
    let mut fused = Fused::new(&indexes, lexical, dense.as_ref(), question, &gate);
    let mut boosts = boost::Boosts::new(&indexes, question);
    boosts.apply(&indexes, &mut fused.scored);
    let explain = |scored: &Scored| {
        let index = indexes[scored.part as usize];
        let doc = index.doc(scored.doc);
        let (mut why, own_share) = fused.explain(index, scored);
        boosts.explain(index, scored, &mut why);
        why.words = lexical.words_in(index, scored.doc);
        Candidate {
            part: scored.part as usize,
            memory: doc.id,
            head: doc.head,
            score: scored.score,
            why,
            doc: scored.doc,
            own_share,
        }
    };
    let best = best_first(&indexes, &fused.scored, question.depth);
    let candidates = best.into_iter().map(explain).collect();
    Ranking { candidates, is_convex: fused.is_convex }
}

/// The best documents of the leg by word, by part.
fn best_by_word(indexes: &[&StoreIndex], lexical: &LexicalLeg, gate: &Gate<'_>) -> Vec<Vec<u32>> {
    let id = |(part, doc): (usize, u32)| indexes[part].doc(doc).id;
    let mut best = Best::new(LEXICAL_COMPARED, |a, b| (id(a), a).cmp(&(id(b), b)));
    for (part, found) in lexical.found.iter().enumerate() {
        for (doc, score) in found {
            if gate.lets_through(part, *doc) {
                best.offer(*score, (part, *doc));
            }
        }
    }
    let mut by_part = vec![Vec::new(); indexes.len()];
    best.sorted().into_iter().for_each(|(part, doc)| by_part[part].push(doc));
    by_part
}

/// The best, best first. Equals go by id, so that an answer never depends on the order in which an
/// index was filled.
fn best_first<'s>(indexes: &[&StoreIndex], scored: &'s [Scored], depth: usize) -> Vec<&'s Scored> {
    let id = |scored: &Scored| indexes[scored.part as usize].doc(scored.doc).id;
    let mut best = Best::new(depth, |a, b| (id(a), a.part).cmp(&(id(b), b.part)));
    scored.iter().for_each(|one| best.offer(one.score, one));
    best.sorted()
}

impl Ranking {
    /// Replaces the quantised similarities of the first `count` candidates by exact ones and sorts
    /// them again.
    pub fn rescore(&mut self, count: usize, exact: impl Fn(&Candidate) -> Option<f32>) {
        let count = count.min(self.candidates.len());
        for candidate in &mut self.candidates[..count] {
            let (Some(exact), Some(before)) = (exact(candidate), candidate.why.semantic) else {
                continue;
            };
            candidate.why.semantic = Some(exact);
            if self.is_convex {
                let moved = (exact - before) * candidate.own_share;
                candidate.why.semantic_normalised += moved;
                let fused = moved * (1.0 - candidate.why.lexical_weight);
                candidate.why.fused += fused;
                candidate.score += fused * candidate.why.author_boost;
            }
        }
        self.candidates[..count]
            .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.memory.cmp(&b.memory)));
    }

    /// Spreads the first `limit` results over what differs; with no diversity wanted they are
    /// simply the best.
    pub fn spread(&mut self, parts: &[Part<'_>], diversity: f32, limit: usize) {
        if diversity > 0.0 {
            diversity::spread(parts, &mut self.candidates, diversity, limit);
        }
    }
}

#[cfg(test)]
mod tests;
