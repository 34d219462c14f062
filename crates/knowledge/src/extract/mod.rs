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
mod names;
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
mod veto;

pub(crate) use veto::{Bound, Guards, day_in, is_function_word};

use crate::claim::{Claim, Utterance};
use cues::Cue;
use read::Reader;
use std::ops::Range;
use tokens::Kind;

/// The most bytes of a text that are read; what is longer is no message, and its rest is left alone.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// The most sentences of a text that are read.
pub const SENTENCES_MAX: usize = 4096;
/// The longest sentence that is read, in words and marks; what is longer was never said.
pub const SENTENCE_TOKENS_MAX: usize = 200;

/// What a text claims, in the order in which it says so.
pub fn extract(utterance: Utterance<'_>) -> Vec<Claim> {
    read_text(utterance).claims
}

/// What rules make of a text.
pub(crate) struct Extracted {
    pub(crate) claims: Vec<Claim>,
    /// Which bytes nobody says as a fact: what is hedged, asked, imagined, quoted, or no speech.
    pub(crate) unsaid: Vec<Range<usize>>,
    /// What stands between quotation marks.
    pub(crate) quoted: Vec<Range<usize>>,
}

pub(crate) fn read_text(utterance: Utterance<'_>) -> Extracted {
    let whole = utterance.text.len();
    let text = cut_at(utterance.text, TEXT_BYTES_MAX);
    let mut unsaid = Vec::new();
    if text.len() < whole {
        unsaid.push(text.len()..whole);
    }
    let blanked = reject::blanked(text, utterance.speaker);
    if let Some(blanked) = &blanked {
        unsaid.extend(lost(text, blanked));
    }
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
        unsaid,
    };
    let cues = cues::cues(&tokens);
    if cues.iter().any(|(_, cue)| *cue == Cue::Fiction) {
        let unsaid = std::iter::once(0..whole).collect();
        return Extracted { claims: Vec::new(), unsaid, quoted: Vec::new() };
    }
    let handed_over = cues.iter().find(|(_, cue)| *cue == Cue::Editing).map(|(at, _)| *at);
    for sentence in &sentences {
        let words = &tokens[sentence.tokens.clone()];
        if handed_over.is_some_and(|at| sentence.tokens.end > at) {
            reader.unsaid.push(words[0].start..whole);
            break;
        }
        if sentence.tokens.len() <= SENTENCE_TOKENS_MAX {
            reader.sentence(words, sentence);
        } else {
            reader.leave(words);
        }
    }
    if sentences.len() == SENTENCES_MAX {
        let end = sentences.last().map_or(0, |last| tokens[last.tokens.end - 1].end);
        reader.unsaid.push(end..whole);
    }
    let quoted = tokens.iter().filter(|token| token.kind == Kind::Quoted);
    let quoted = quoted.map(|token| token.start..token.end).collect();
    Extracted { claims: reader.claims, unsaid: reader.unsaid, quoted }
}

/// Where a blanked text differs from what it was; lines, so that there are few.
fn lost(text: &str, blanked: &str) -> Vec<Range<usize>> {
    let mut lost: Vec<Range<usize>> = Vec::new();
    for (at, (was, is)) in text.bytes().zip(blanked.bytes()).enumerate() {
        if was == is {
            continue;
        }
        match lost.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => lost.push(at..at + 1),
        }
    }
    lost
}

/// The beginning of a text, at most so many bytes of it.
fn cut_at(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}
