//! How well the sorts of facts and entities fit a question, by words and by meaning. Each sort is
//! described by a line of plain words, embedded once a process; nobody waits for another's lock while
//! a model works.

use loci_knowledge::graph::{Scores, words};
use loci_knowledge::ontology::{Label, Relation};
use loci_search::embed::{Embedder, Purpose};
use loci_search::vector::dot;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much words count where meaning is known, too.
const WORDS_SHARE: f32 = 0.35;

/// The lines, embedded by one model.
struct Embedded {
    relations: Vec<Vec<f32>>,
    labels: Vec<Vec<f32>>,
}

/// What the sorts mean, once somebody asked.
#[derive(Default)]
pub(crate) struct Senses(Mutex<Option<Arc<Embedded>>>);

impl Senses {
    /// How well the sorts fit a question; by words alone where there is no vector. Blocks while the
    /// model works.
    pub(super) fn scores(&self, text: &str, meaning: Option<(&dyn Embedder, &[f32])>) -> Scores {
        let asked: HashSet<u64> = words(text).collect();
        let by_word = |gloss: &str| words(gloss).filter(|word| asked.contains(word)).count() as f32;
        let mut relations = spread(Relation::ALL.iter().map(|one| by_word(one.gloss())).collect());
        let mut labels = spread(Label::ALL.iter().map(|one| by_word(one.gloss())).collect());
        let embedded = meaning.and_then(|(model, vector)| Some((self.embedded(model)?, vector)));
        if let Some((embedded, vector)) = embedded {
            for (scores, lines) in
                [(&mut relations, &embedded.relations), (&mut labels, &embedded.labels)]
            {
                let close = spread(lines.iter().map(|line| dot(line, vector)).collect());
                for (score, close) in scores.iter_mut().zip(close) {
                    *score = WORDS_SHARE * *score + (1.0 - WORDS_SHARE) * close;
                }
            }
        }
        Scores { relations, labels, ..Scores::default() }
    }

    /// The lines, embedded; nothing while the model does not answer. Two who ask first at the same
    /// time both have them embedded, and both get the same.
    fn embedded(&self, model: &dyn Embedder) -> Option<Arc<Embedded>> {
        if let Some(made) = self.lock().clone() {
            return Some(made);
        }
        let embed = |lines: Vec<&str>| model.embed(&lines, Purpose::Passage).ok();
        let relations = embed(Relation::ALL.iter().map(|one| one.gloss()).collect())?;
        let labels = embed(Label::ALL.iter().map(|one| one.gloss()).collect())?;
        let made = Arc::new(Embedded { relations, labels });
        Some(Arc::clone(self.lock().get_or_insert(made)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Embedded>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// From 0 for the least to 1 for the most.
fn spread(scores: Vec<f32>) -> Vec<f32> {
    let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if most <= least {
        return vec![0.0; scores.len()];
    }
    scores.into_iter().map(|score| (score - least) / (most - least)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_alone_tell_what_sort_of_fact_is_asked_for() {
        let best = |text: &str| {
            let scores = Senses::default().scores(text, None).relations;
            let most = scores.iter().copied().fold(0.0, f32::max);
            let at = scores.iter().position(|score| *score == most).unwrap();
            (most > 0.0).then(|| Relation::ALL[at])
        };
        assert_eq!(best("which company employs them"), Some(Relation::EmployedAt));
        assert_eq!(best("home city and address"), Some(Relation::LivesAt));
        assert_eq!(best("xyzzy"), None);
    }
}
