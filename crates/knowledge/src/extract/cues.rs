//! Phrases that change what the words around them say (`cues.txt`): play and fiction, texts handed
//! over to be worked on, figures of speech. Found with one look per token; a phrase is compared only
//! where its first word is.

use super::tokens::Token;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What a phrase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cue {
    /// The whole text is play or fiction.
    Fiction,
    /// What follows was handed over to be worked on.
    Editing,
    /// Nothing in the sentence is said as a fact.
    Unsaid,
    /// The clause means something else.
    Idiom,
}

static CUES: &str = include_str!("cues.txt");

type Rest = (Cue, Vec<&'static str>);
type Table = HashMap<&'static str, Vec<Rest>, foldhash::fast::FixedState>;

fn table() -> &'static Table {
    static READ: OnceLock<Table> = OnceLock::new();
    READ.get_or_init(|| {
        let mut table = Table::default();
        let mut cue = Cue::Fiction;
        for line in CUES.lines().filter(|line| !line.starts_with('#')) {
            match line {
                "[fiction]" => cue = Cue::Fiction,
                "[editing]" => cue = Cue::Editing,
                "[unsaid]" => cue = Cue::Unsaid,
                "[idiom]" => cue = Cue::Idiom,
                _ => {
                    let mut words = line.split_whitespace();
                    if let Some(first) = words.next() {
                        table.entry(first).or_default().push((cue, words.collect()));
                    }
                }
            }
        }
        table
    })
}

/// The cues in a run of tokens, each with the place of its first word.
pub(super) fn cues(tokens: &[Token<'_>]) -> Vec<(usize, Cue)> {
    let table = table();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(phrases) = table.get(token.word) else { continue };
        for (cue, rest) in phrases {
            let matches = rest.len() < tokens.len() - at
                && rest.iter().zip(&tokens[at + 1..]).all(|(word, token)| token.is(word));
            if matches {
                found.push((at, *cue));
            }
        }
    }
    found
}
