//! The piece of a text that shows why it was found.
//!
//! The window with the most different query terms, then with the most hits, then the first; cut
//! between words, white space squeezed, every matched word marked. Without a match it is the
//! beginning. Marks are counted in characters of the snippet and always lie inside it.

use super::analyze::Analyzer;
use super::characters::{Script, is_extending, script_of};
use super::phrase::find_phrase;
use super::query::TextQuery;
use std::ops::Range;

/// A piece of a text with its matches marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The piece, one line.
    pub text: String,
    /// The matched words, in characters of `text`, in order and apart.
    pub highlights: Vec<Range<usize>>,
    /// Whether the text has more before it.
    pub is_cut_before: bool,
    /// Whether the text goes on behind it.
    pub is_cut_after: bool,
}

/// The best piece of the text for the query, of at most `chars_max` characters.
pub fn snippet(analyzer: &Analyzer, text: &str, query: &TextQuery, chars_max: usize) -> Snippet {
    let hits = find_hits(analyzer, text, query);
    let window = if text.chars().nth(chars_max).is_none() {
        0..text.len()
    } else if let Some(best) = densest(&hits, query, chars_max) {
        widen(text, &best, chars_max)
    } else {
        0..fitting_end(text, 0, 0, chars_max)
    };
    let (squeezed, highlights) = squeeze(text, &window, &hits);
    Snippet {
        text: squeezed,
        highlights,
        is_cut_before: has_ink(&text[..window.start]),
        is_cut_after: has_ink(&text[window.end..]),
    }
}

/// A place that answers one of the wanted terms, prefixes or phrases.
#[derive(Debug, Clone)]
struct Hit {
    bytes: Range<usize>,
    chars: Range<usize>,
    wanted: usize,
}

fn find_hits(analyzer: &Analyzer, text: &str, query: &TextQuery) -> Vec<Hit> {
    let mut hits = Vec::new();
    if query.is_empty() {
        return hits;
    }
    let hit = |bytes, wanted| Hit { bytes, chars: 0..0, wanted };
    analyzer.terms(text, |term| {
        if let Some(wanted) = query.position(term.text) {
            hits.push(hit(term.range, wanted));
        }
    });
    let others = query.terms.len() + query.prefixes.len();
    for (at, phrase) in query.phrases.iter().enumerate() {
        if let Some(range) = find_phrase(text, &phrase.words) {
            hits.push(hit(range, others + at));
        }
    }
    hits.sort_by_key(|hit| (hit.bytes.start, hit.bytes.end));
    let (mut byte, mut chars) = (0, 0);
    for hit in &mut hits {
        chars += text[byte..hit.bytes.start].chars().count();
        byte = hit.bytes.start;
        hit.chars = chars..chars + text[hit.bytes.clone()].chars().count();
    }
    hits
}

/// The stretch from a first to a last hit that fits and has the most to show.
fn densest(hits: &[Hit], query: &TextQuery, chars_max: usize) -> Option<Hit> {
    let mut counts = vec![0_u32; query.terms.len() + query.prefixes.len() + query.phrases.len()];
    let mut distinct = 0;
    let mut first = 0;
    let mut best: Option<((usize, usize), usize, usize)> = None;
    for (last, hit) in hits.iter().enumerate() {
        distinct += usize::from(counts[hit.wanted] == 0);
        counts[hit.wanted] += 1;
        while first < last && hit.chars.end.saturating_sub(hits[first].chars.start) > chars_max {
            let left = hits[first].wanted;
            counts[left] -= 1;
            distinct -= usize::from(counts[left] == 0);
            first += 1;
        }
        let score = (distinct, last + 1 - first);
        if best.is_none_or(|(held, ..)| score > held) {
            best = Some((score, first, last));
        }
    }
    let (_, first, last) = best?;
    let stretch = &hits[first..=last];
    // A hit may end behind a later one: a whole word and its parts.
    let byte_end = stretch.iter().map(|hit| hit.bytes.end).max()?;
    let char_end = stretch.iter().map(|hit| hit.chars.end).max()?;
    Some(Hit {
        bytes: stretch[0].bytes.start..byte_end,
        chars: stretch[0].chars.start..char_end,
        wanted: 0,
    })
}

/// The window around a stretch, the room before and behind it shared.
fn widen(text: &str, stretch: &Hit, chars_max: usize) -> Range<usize> {
    let room = chars_max.saturating_sub(stretch.chars.len());
    let behind = text[stretch.bytes.end..].chars().take(room).count();
    let lead = (room / 2).max(room - behind);
    let start = if lead == 0 {
        stretch.bytes.start
    } else {
        text[..stretch.bytes.start]
            .char_indices()
            .rev()
            .take(lead)
            .last()
            .map_or(stretch.bytes.start, |(at, _)| at)
    };
    let end = fitting_end(text, start, stretch.bytes.end, chars_max);
    // The start moves towards the stretch until it cuts no word in two.
    let start = text[start..stretch.bytes.start]
        .char_indices()
        .map(|(at, _)| start + at)
        .find(|at| is_between_words(text, *at))
        .unwrap_or(stretch.bytes.start);
    start..end
}

/// The end of a window of `chars_max` characters: between words, but not before `end_min` unless
/// the window itself ends there.
fn fitting_end(text: &str, start: usize, end_min: usize, chars_max: usize) -> usize {
    let Some((len, _)) = text[start..].char_indices().nth(chars_max) else { return text.len() };
    let limit = start + len;
    if limit <= end_min {
        return limit;
    }
    let floor = end_min.max(start);
    let tried = text[floor..limit].char_indices().rev().map(|(at, _)| floor + at);
    std::iter::once(limit)
        .chain(tried)
        .find(|at| *at > floor && is_between_words(text, *at))
        .unwrap_or(if end_min > start { end_min } else { limit })
}

/// Whether a text may be cut here: not inside a spaced word, not before a mark.
fn is_between_words(text: &str, at: usize) -> bool {
    let (before, after) = (text[..at].chars().next_back(), text[at..].chars().next());
    let (Some(before), Some(after)) = (before, after) else { return true };
    if is_extending(after) {
        return false;
    }
    let is_in_word =
        |c| is_extending(c) || script_of(c).is_some_and(|script| script != Script::Unspaced);
    !(is_in_word(before) && is_in_word(after))
}

/// The window as one line, and the hits in it counted in its characters.
fn squeeze(text: &str, window: &Range<usize>, hits: &[Hit]) -> (String, Vec<Range<usize>>) {
    let mut line = String::with_capacity(window.len());
    let mut highlights: Vec<Range<usize>> = Vec::new();
    let mut chars = 0;
    let mut has_space = false;
    let mut hits = hits.iter().peekable();
    // The end of the marks that began so far: marks overlap.
    let mut marked_to = 0;
    let mut open: Option<Range<usize>> = None;
    for (at, c) in text[window.clone()].char_indices().map(|(at, c)| (window.start + at, c)) {
        if c.is_whitespace() || c.is_control() {
            has_space = true;
            continue;
        }
        if has_space && chars > 0 {
            line.push(' ');
            chars += 1;
        }
        has_space = false;
        if at >= marked_to {
            highlights.extend(open.take());
        }
        while let Some(hit) = hits.next_if(|hit| hit.bytes.start <= at) {
            marked_to = marked_to.max(hit.bytes.end);
        }
        line.push(c);
        chars += 1;
        if at < marked_to {
            open.get_or_insert(chars - 1..chars).end = chars;
        }
    }
    highlights.extend(open);
    (line, highlights)
}

fn has_ink(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str, query: &str, chars_max: usize) -> Snippet {
        snippet(&Analyzer::new(), text, &TextQuery::parse(query), chars_max)
    }

    /// The snippet with its marks in brackets and its cuts as dots.
    fn shown(text: &str, query: &str, chars_max: usize) -> String {
        let snippet = cut(text, query, chars_max);
        let chars: Vec<char> = snippet.text.chars().collect();
        let mut shown = String::from(if snippet.is_cut_before { "…" } else { "" });
        for (at, c) in chars.iter().enumerate() {
            if snippet.highlights.iter().any(|range| range.start == at) {
                shown.push('[');
            }
            shown.push(*c);
            if snippet.highlights.iter().any(|range| range.end == at + 1) {
                shown.push(']');
            }
        }
        shown + if snippet.is_cut_after { "…" } else { "" }
    }

    #[test]
    fn windows_and_marks() {
        let long = "one two three four five six seven eight painted nine ten dogs eleven twelve";
        let table = [
            ("The dogs\n\n painted.", "paint dog", 50, "The [dogs] [painted]."),
            (long, "paint dog", 33, "…eight [painted] nine ten [dogs]…"),
            (long, "missing", 12, "one two…"),
            (long, "twelve", 20, "…dogs eleven [twelve]"),
            (long, "one", 14, "[one] two three…"),
            ("userTimezone is set", "timezone", 50, "user[Timezone] is set"),
            ("userTimezone is set", "userTimezone", 50, "[userTimezone] is set"),
            ("私は東京タワーに行く", "東京タワー", 50, "私は[東京タワー]に行く"),
            ("Caroline’s café", "caroline cafe", 50, "[Caroline]’s [café]"),
            ("it is to be or not", "\"to be\"", 50, "it is [to be] or not"),
            ("a timezone", "timez*", 50, "a [timezone]"),
            ("to be or not", "be", 50, "to [be] or not"),
            ("", "x", 50, ""),
            ("abc def", "abc", 0, "…"),
            ("dogs", "dogs", 2, "[do]…"),
            (" a\u{0}b ", "zz", 50, "a b"),
        ];
        for (text, query, chars_max, expected) in table {
            assert_eq!(shown(text, query, chars_max), expected, "{text} / {query}");
        }
    }

    #[test]
    fn more_different_terms_win_over_more_hits() {
        let text = format!("dog dog dog dog {} dog cat {} cat", "x ".repeat(60), "y ".repeat(60));
        let found = cut(&text, "dog cat", 20);
        assert!(found.text.contains("dog cat"), "{found:?}");
    }

    #[test]
    fn hostile_texts() {
        assert_eq!(cut(&"x".repeat(100_000), "xx", 40).text, "x".repeat(40));
        let marked = cut(&"猫".repeat(100_000), "猫猫", 40).highlights;
        assert_eq!((marked.len(), marked[0].len()), (1, 40));
        assert_eq!(cut(&" ".repeat(100_000), "xx", 40).text, "");
        assert_eq!(cut(&"dog ".repeat(100_000), "dog", 40).highlights.len(), 10);
    }

    proptest! {
        #[test]
        fn marks_lie_inside_and_apart(
            text in "([a-cA-C1é猫한\u{301}']{0,4}[ \n,.\u{0}]{0,2}){0,30}|\\PC{0,60}",
            query in "[a-cé猫한\" *]{0,12}",
            chars_max in 0_usize..50,
        ) {
            let found = cut(&text, &query, chars_max);
            let len = found.text.chars().count();
            prop_assert!(len <= chars_max);
            let mut before = 0;
            for (at, range) in found.highlights.iter().enumerate() {
                prop_assert!(range.start < range.end && range.end <= len);
                prop_assert!(at == 0 || range.start > before - 1);
                before = range.end;
            }
            prop_assert!(found.text.trim() == found.text);
        }
    }
}
