//! Reads claims out of plain English sentences, by rules. A wrong fact is worse than none: whatever
//! is hedged, asked, quoted, imagined or told of somebody else's words is left alone.
//!
//! One pass from left to right: [`reject`] blanks what nobody says, [`tokens`] cuts words,
//! [`clauses`] sentences and clauses, [`read`] goes through them with the guards, [`subject`] and
//! [`group`] find who and what, [`assert`] compares with the table of [`frames`], [`objects`] and
//! [`kinds`] cut and test the object, [`dates`] and [`timing`] say from when to when. What words are
//! and what sentences say is data, in the text files beside the code. Nothing here depends on
//! anything but the utterance, and the work is linear in its length.

mod assert;
mod clauses;
mod cues;
mod dates;
mod days;
mod frames;
mod group;
mod kinds;
mod lexicon;
mod nature;
mod objects;
mod possess;
mod read;
mod reject;
mod subject;
mod things;
mod timing;
mod tokens;
mod verbs;

use crate::claim::{Claim, Utterance};
use cues::Cue;
use read::Reader;

/// The most bytes of a text that are read; what is longer is no message, and its rest is left alone.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// The most sentences of a text that are read.
pub const SENTENCES_MAX: usize = 4096;
/// The longest sentence that is read, in words and marks; what is longer was never said.
pub const SENTENCE_TOKENS_MAX: usize = 200;

/// What a text claims, in the order in which it says so.
pub fn extract(utterance: Utterance<'_>) -> Vec<Claim> {
    let text = cut_at(utterance.text, TEXT_BYTES_MAX);
    let blanked = reject::blanked(text, utterance.speaker);
    let text = blanked.as_deref().unwrap_or(text);
    let lowered = text.to_ascii_lowercase();
    let tokens = tokens::tokens(text, &lowered);
    let sentences = clauses::sentences(&tokens, SENTENCES_MAX);
    let speaker = match utterance.speaker.trim() {
        "" => "User",
        speaker => speaker,
    };
    let mut reader = Reader {
        text,
        speaker,
        at: utterance.at,
        today: days::day_of(utterance.at),
        is_lower: lowered == text,
        people: Vec::new(),
        claims: Vec::new(),
    };
    let cues = cues::cues(&tokens);
    if cues.iter().any(|(_, cue)| *cue == Cue::Fiction) {
        return Vec::new();
    }
    let handed_over = cues.iter().find(|(_, cue)| *cue == Cue::Editing).map(|(at, _)| *at);
    for sentence in &sentences {
        if handed_over.is_some_and(|at| sentence.tokens.end > at) {
            break;
        }
        if sentence.tokens.len() <= SENTENCE_TOKENS_MAX {
            reader.sentence(&tokens[sentence.tokens.clone()], sentence);
        }
    }
    reader.claims
}

/// The beginning of a text, at most so many bytes of it.
fn cut_at(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}
