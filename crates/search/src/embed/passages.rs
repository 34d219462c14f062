//! Cutting a long text into passages a model takes whole.
//!
//! A model reads a few hundred tokens; what lies behind is lost. So a memory has a vector for each
//! passage. Cuts fall between paragraphs if they can, else between sentences, else words; a little
//! of the passage before is repeated, so that a thought cut in two is whole in one of them.

use std::ops::Range;

/// The most passages of one memory; what comes after is found by word only.
pub const PASSAGES_MAX: usize = 64;

/// Well within the 256 tokens of the built-in model.
const PASSAGE_TOKENS_MAX: usize = 200;
/// From here on, a paragraph that does not fit whole begins a passage of its own.
const PASSAGE_TOKENS_ENOUGH: usize = 100;
const OVERLAP_TOKENS_MAX: usize = 40;
const OVERLAP_WORDS: usize = 20;

/// The passages of a text as byte ranges, in order; none if it is blank. `tokens` counts the tokens
/// of a part, and of a whole finds about as many as of its parts together.
pub fn passages(body: &str, tokens: &dyn Fn(&str) -> usize) -> Vec<Range<usize>> {
    let whole = trimmed(body, 0..body.len());
    if whole.is_empty() {
        return Vec::new();
    }
    if tokens(&body[whole.clone()]) <= PASSAGE_TOKENS_MAX {
        return vec![whole];
    }
    let mut passages = Vec::new();
    let mut open: Option<Open> = None;
    for unit in Units::new(body, tokens) {
        let Some(passage) = &mut open else {
            open = Some(Open::from(unit));
            continue;
        };
        let ahead = unit.paragraph_tokens_ahead.unwrap_or(unit.tokens);
        let fits = passage.tokens + unit.tokens <= PASSAGE_TOKENS_MAX;
        let better_apart =
            passage.tokens >= PASSAGE_TOKENS_ENOUGH && passage.tokens + ahead > PASSAGE_TOKENS_MAX;
        if fits && !better_apart {
            passage.take(&unit);
            continue;
        }
        passages.push(passage.range.clone());
        if passages.len() == PASSAGES_MAX {
            return passages;
        }
        let room = PASSAGE_TOKENS_MAX - unit.tokens;
        let overlap = passage.overlap(body, tokens, room.min(OVERLAP_TOKENS_MAX));
        open = Some(Open::after(overlap, unit));
    }
    passages.extend(open.map(|passage| passage.range));
    passages
}

/// A passage that may still grow.
struct Open {
    range: Range<usize>,
    tokens: usize,
    last: Range<usize>,
}

impl Open {
    fn from(unit: Unit) -> Self {
        Self { range: unit.range.clone(), tokens: unit.tokens, last: unit.range }
    }

    fn after(overlap: Option<(usize, usize)>, unit: Unit) -> Self {
        let mut passage = Self::from(unit);
        if let Some((start, tokens)) = overlap {
            passage.range.start = start;
            passage.tokens += tokens;
        }
        passage
    }

    fn take(&mut self, unit: &Unit) {
        self.range.end = unit.range.end;
        self.tokens += unit.tokens;
        self.last = unit.range.clone();
    }

    /// Where the part to be repeated begins and how many tokens it has: the last sentence, or its
    /// last words if it is long.
    fn overlap(
        &self,
        body: &str,
        tokens: &dyn Fn(&str) -> usize,
        tokens_max: usize,
    ) -> Option<(usize, usize)> {
        let sentence = &body[self.last.clone()];
        let last_words = word_starts(sentence).rev().take(OVERLAP_WORDS).last()?;
        [0, last_words]
            .into_iter()
            .map(|start| (self.last.start + start, tokens(&sentence[start..])))
            .find(|&(start, tokens)| tokens <= tokens_max && start > self.range.start)
    }
}

/// What is not cut any further: a sentence, or a part of one too long for a passage.
struct Unit {
    range: Range<usize>,
    tokens: usize,
    /// For the first unit of a paragraph, the tokens of the whole paragraph.
    paragraph_tokens_ahead: Option<usize>,
}

/// The units of a text, cut paragraph by paragraph so that a huge text costs no more than is used.
struct Units<'a> {
    body: &'a str,
    tokens: &'a dyn Fn(&str) -> usize,
    read: usize,
    ready: std::vec::IntoIter<Unit>,
}

impl<'a> Units<'a> {
    fn new(body: &'a str, tokens: &'a dyn Fn(&str) -> usize) -> Self {
        Self { body, tokens, read: 0, ready: Vec::new().into_iter() }
    }

    fn of_paragraph(&self, paragraph: Range<usize>) -> Vec<Unit> {
        let mut units = Vec::new();
        for sentence in sentences(self.body, paragraph) {
            self.add(sentence, &mut units);
        }
        let all = units.iter().map(|unit| unit.tokens).sum();
        if let Some(first) = units.first_mut() {
            first.paragraph_tokens_ahead = Some(all);
        }
        units
    }

    /// Adds a part, halved near its middle for as long as it is too long for a passage.
    fn add(&self, part: Range<usize>, units: &mut Vec<Unit>) {
        let part = trimmed(self.body, part);
        let text = &self.body[part.clone()];
        if text.is_empty() {
            return;
        }
        let tokens = (self.tokens)(text);
        match middle(text) {
            Some(cut) if tokens > PASSAGE_TOKENS_MAX => {
                self.add(part.start..part.start + cut, units);
                self.add(part.start + cut..part.end, units);
            }
            _ => {
                let tokens = tokens.min(PASSAGE_TOKENS_MAX);
                units.push(Unit { range: part, tokens, paragraph_tokens_ahead: None });
            }
        }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        loop {
            if let Some(unit) = self.ready.next() {
                return Some(unit);
            }
            if self.read == self.body.len() {
                return None;
            }
            let end = paragraph_end(self.body, self.read);
            self.ready = self.of_paragraph(self.read..end).into_iter();
            self.read = end;
        }
    }
}

/// Where the paragraph that begins at `start` ends: after the next blank line.
fn paragraph_end(body: &str, start: usize) -> usize {
    let mut end = start;
    let mut has_text = false;
    for line in body[start..].split_inclusive('\n') {
        end += line.len();
        let is_blank = line.trim().is_empty();
        if is_blank && has_text {
            break;
        }
        has_text |= !is_blank;
    }
    end
}

/// The sentences of a paragraph: up to an end mark before a space, an ideographic full stop, or the
/// end of a line (lists, code).
fn sentences(body: &str, paragraph: Range<usize>) -> Vec<Range<usize>> {
    let text = &body[paragraph.clone()];
    let mut sentences = Vec::new();
    let mut start = paragraph.start;
    let mut ended = false;
    for (at, c) in text.char_indices() {
        let at = paragraph.start + at;
        let cut = match c {
            '\n' | '。' | '！' | '？' => Some(at + c.len_utf8()),
            _ if c.is_whitespace() && ended => Some(at),
            _ => None,
        };
        // Quotes and brackets may close after the mark that ends a sentence.
        ended = matches!(c, '.' | '!' | '?' | '…')
            || ended && matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»');
        if let Some(cut) = cut {
            sentences.push(start..cut);
            start = cut;
        }
    }
    sentences.push(start..paragraph.end);
    sentences
}

/// A place to cut near the middle of a text: before a word, or between characters if there is but
/// one word. None if it has only one character.
fn middle(text: &str) -> Option<usize> {
    let half = text.len() / 2;
    let word =
        word_starts(text).filter(|&start| start > 0).min_by_key(|start| start.abs_diff(half));
    let is_central = |cut: &usize| cut.abs_diff(half) <= text.len() / 4;
    word.filter(is_central)
        .or_else(|| Some(text.floor_char_boundary(half)).filter(|&cut| cut > 0))
        .or_else(|| text.char_indices().nth(1).map(|(at, _)| at))
}

fn word_starts(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    text.split_whitespace().map(|word| word.as_ptr() as usize - text.as_ptr() as usize)
}

/// The range without white space at its ends.
fn trimmed(body: &str, range: Range<usize>) -> Range<usize> {
    let text = &body[range.clone()];
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

#[cfg(test)]
mod tests {
    use super::{OVERLAP_TOKENS_MAX, PASSAGE_TOKENS_MAX, PASSAGES_MAX, passages};
    use proptest::prelude::*;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn cut<'a>(body: &'a str, tokens: &dyn Fn(&str) -> usize) -> Vec<&'a str> {
        passages(body, tokens).into_iter().map(|range| &body[range]).collect()
    }

    #[test]
    fn a_short_text_is_one_passage_and_a_blank_one_none() {
        assert_eq!(cut("  One. Two.\n\nThree.\n", &words), ["One. Two.\n\nThree."]);
        assert!(cut(" \n\t", &words).is_empty());
        assert!(cut("", &words).is_empty());
    }

    #[test]
    fn a_cut_falls_between_paragraphs_if_it_can() {
        let first = "alpha ".repeat(119) + "end.";
        let second = "beta ".repeat(120);
        let body = format!("{first}\n\n{second}");
        let found = cut(&body, &words);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], first);
        assert!(found[1].ends_with(second.trim()));
    }

    #[test]
    fn else_between_sentences_with_the_last_one_repeated() {
        let sentence = |i| format!("S{i} {}stops here.", "and goes on ".repeat(6));
        let body: Vec<String> = (0..30).map(sentence).collect();
        let body = body.join(" ");
        let found = cut(&body, &words);
        assert!(found.len() > 2);
        for pair in found.windows(2) {
            let last = pair[0].rsplit_once(" S").unwrap().1;
            assert!(pair[0].ends_with("stops here."));
            assert!(pair[1].starts_with(&format!("S{last}")));
        }
    }

    #[test]
    fn a_sentence_too_long_is_cut_between_words() {
        let body: Vec<String> = (0..1000).map(|i| format!("w{i}")).collect();
        let body = body.join(" ");
        let found = cut(&body, &words);
        assert!(found.iter().all(|p| words(p) <= PASSAGE_TOKENS_MAX + OVERLAP_TOKENS_MAX));
        assert!(found.iter().all(|p| p.split(' ').all(|w| w.starts_with('w'))));
        assert!(found.last().unwrap().ends_with("w999"));
    }

    #[test]
    fn a_text_without_spaces_is_cut_between_characters() {
        let chars = |text: &str| text.chars().count();
        let body = "語".repeat(1000);
        assert!(cut(&body, &chars).iter().all(|p| chars(p) <= PASSAGE_TOKENS_MAX));
    }

    #[test]
    fn a_huge_text_has_no_more_than_the_most() {
        let body = "Some words that say nothing. ".repeat(10_000);
        assert_eq!(passages(&body, &words).len(), PASSAGES_MAX);
    }

    proptest! {
        #[test]
        fn passages_cover_all_words_and_stay_within_the_limit(
            body in prop::collection::vec("[a-zé中.!?\" \n]{0,60}", 0..120),
            per_token in 1usize..5,
        ) {
            let body = body.join("\n");
            let tokens = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count().div_ceil(per_token);
            let found = passages(&body, &tokens);
            let mut covered = 0;
            for range in &found {
                prop_assert!(body.get(range.clone()).is_some(), "cut inside a character");
                prop_assert!(tokens(&body[range.clone()]) <= PASSAGE_TOKENS_MAX + OVERLAP_TOKENS_MAX);
                prop_assert!(range.end > covered, "a passage adds something");
                prop_assert!(
                    range.start <= covered || body[covered..range.start].trim().is_empty()
                );
                covered = range.end;
            }
            prop_assert!(found.len() == PASSAGES_MAX || body[covered..].trim().is_empty());
        }
    }
}
