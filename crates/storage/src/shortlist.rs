//! Searching a store where it lies: an engine that keeps words and passages as rows picks the memories
//! worth ranking, and whoever asked ranks them. For stores that are too large to be held in memory.

use crate::GenerationId;
use loci_model::{Invalid, Memory, PathPrefix, Timestamp, limit};
use std::collections::HashMap;

/// Words one lookup takes.
const WORDS_MAX: usize = limit::QUERY_WORDS_MAX;
/// Terms one word or phrase takes.
const TERMS_MAX: usize = 1024;
/// Up to this many memories a store is compared with a vector one by one.
const COMPARED_MAX: u64 = 2000;

/// What to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// The generation of vectors to compare with; words are looked up in any case.
    pub generation: GenerationId,
    /// How many memories there are to find, about.
    pub memories: u64,
    /// How many results are wanted in the end: the more, the longer the list.
    pub wanted: usize,
    /// What a memory has to be.
    pub filter: LookupFilter,
    /// Up to this many memories are compared with a vector one by one, which is exact; among more,
    /// an index may be asked.
    pub compared_max: u64,
    /// Words of which a memory needs one.
    pub words: Vec<Sought>,
    /// Sets of words of which a memory needs all of each, if there are any sets.
    pub phrases: Vec<Vec<String>>,
    /// The query as the generation's model embeds it.
    pub vector: Option<Vec<f32>>,
}

/// What a memory has to be to be listed. It may let through a little more than it says: whoever ranks
/// looks again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LookupFilter {
    /// Below one of these directories, when there are any.
    pub prefixes: Vec<PathPrefix>,
    /// Of one of these kinds, when there are any.
    pub kinds: Vec<String>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// With this claimed source.
    pub source: Option<String>,
    /// With this scope.
    pub scope: Option<String>,
    /// Created in this span; both ends belong to it.
    pub created: (Option<Timestamp>, Option<Timestamp>),
    /// Last changed in this span; both ends belong to it.
    pub updated: (Option<Timestamp>, Option<Timestamp>),
    /// With members of these names in its metadata.
    pub metadata: Vec<String>,
}

impl LookupFilter {
    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
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
    /// The vectors of each, where a vector was looked for and there are some.
    pub vectors: Vec<Option<Vec<u8>>>,
    /// How many of them hold each word, by its key; as far as it was counted.
    pub holding: HashMap<String, u64>,
}

impl Lookup {
    /// Looks for nothing yet, among so many memories.
    pub fn new(generation: GenerationId, memories: u64, wanted: usize) -> Self {
        Self {
            generation,
            memories,
            wanted,
            filter: LookupFilter::default(),
            compared_max: COMPARED_MAX,
            words: Vec::new(),
            phrases: Vec::new(),
            vector: None,
        }
    }

    /// Checks sizes: a pure check that every engine makes.
    pub fn check(&self) -> Result<(), Invalid> {
        let is_long = |term: &String| term.len() > limit::INDEX_WORD_BYTES_MAX;
        let unfit = |terms: &Vec<String>| terms.len() > TERMS_MAX || terms.iter().any(is_long);
        let words = self.words.len() <= WORDS_MAX
            && !self.words.iter().any(|word| unfit(&word.terms))
            && !self.words.iter().filter_map(|word| word.beginning.as_ref()).any(is_long);
        let phrases = self.phrases.len() <= WORDS_MAX && !self.phrases.iter().any(unfit);
        let filter = &self.filter;
        let counts =
            [filter.prefixes.len(), filter.kinds.len(), filter.tags.len(), filter.metadata.len()];
        if counts.into_iter().any(|count| count > limit::FILTER_VALUES_MAX) {
            return Err(Invalid::new("filter", "has too many values"));
        }
        if self.wanted > limit::SEARCH_RESULTS_MAX {
            return Err(Invalid::new("wanted", "is too much"));
        }
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
