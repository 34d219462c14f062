//! Searching a store where it lies: an engine that keeps words and passages as rows picks the memories
//! worth ranking, and whoever asked ranks them. For stores that are too large to be held in memory.

use crate::GenerationId;
use loci_model::{Invalid, Memory, limit};
use std::collections::HashMap;

/// Words one lookup takes.
const WORDS_MAX: usize = limit::QUERY_WORDS_MAX;
/// Terms one word or phrase takes.
const TERMS_MAX: usize = 1024;

/// What to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// The generation of vectors to compare with; words are looked up in any case.
    pub generation: GenerationId,
    /// Words of which a memory needs one.
    pub words: Vec<Sought>,
    /// Sets of words of which a memory needs all of each, if there are any sets.
    pub phrases: Vec<Vec<String>>,
    /// The query as the generation's model embeds it.
    pub vector: Option<Vec<f32>>,
}

/// One word that is sought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sought {
    /// What tells it from the others.
    pub key: String,
    /// As it may be written.
    pub terms: Vec<String>,
    /// Or anything that begins like this.
    pub beginning: Option<String>,
}

/// The memories of a store that are worth ranking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shortlist {
    /// With their content, each once; also some that lie beside them.
    pub memories: Vec<Memory>,
    /// How many memories of the store the reader may find, about.
    pub total: u64,
    /// How many of them hold each word, by its key; as far as it was counted.
    pub holding: HashMap<String, u64>,
}

impl Lookup {
    /// Checks sizes: a pure check that every engine makes.
    pub fn check(&self) -> Result<(), Invalid> {
        let is_long = |term: &String| term.len() > limit::INDEX_WORD_BYTES_MAX;
        let unfit = |terms: &Vec<String>| terms.len() > TERMS_MAX || terms.iter().any(is_long);
        let words = self.words.len() <= WORDS_MAX
            && !self.words.iter().any(|word| unfit(&word.terms))
            && !self.words.iter().filter_map(|word| word.beginning.as_ref()).any(is_long);
        let phrases = self.phrases.len() <= WORDS_MAX && !self.phrases.iter().any(unfit);
        if !words || !phrases {
            return Err(Invalid::new("words", "are too many or too long"));
        }
        match &self.vector {
            Some(vector) if vector.len() > limit::VECTOR_DIMS_MAX => {
                let max = limit::VECTOR_DIMS_MAX;
                Err(Invalid::new("vector", format!("has {} numbers, limit {max}", vector.len())))
            }
            _ => Ok(()),
        }
    }
}
