//! A summary without a model: the lines that sources have about themselves, or how they begin, each
//! quoted under its name and day. It claims nothing that no source says, and says so.

use super::summary::Source;
use loci_model::Timestamp;
use std::fmt::Write as _;

/// Bytes that a quotation has at least, however many there are, as long as there is room.
const QUOTE_BYTES_MIN: usize = 40;

/// A source as it is quoted.
pub(super) struct Quoted<'a> {
    name: &'a str,
    at: Timestamp,
    text: &'a str,
}

impl<'a> Quoted<'a> {
    pub(super) fn of(source: &'a Source) -> Self {
        let line = source.line.as_deref().filter(|line| !line.trim().is_empty());
        Self { name: &source.name, at: source.at, text: line.unwrap_or(&source.text) }
    }
}

/// The summary, in at most so many bytes.
pub(super) fn extract(sources: &[Quoted<'_>], bytes_max: usize) -> String {
    let mut text = format!(
        "Quoted from {} episodes, {}; extracted, not written by a model.\n",
        sources.len(),
        days(sources.iter().map(|source| source.at))
    );
    for (at, source) in sources.iter().enumerate() {
        // What a short one leaves is for those after it.
        let left = bytes_max.saturating_sub(text.len());
        let share = left / (sources.len() - at);
        let label = format!("\n- {} {}: ", day(source.at), source.name);
        let room = share.max(QUOTE_BYTES_MIN + label.len()).min(left);
        let Some(room) = room.checked_sub(label.len()).filter(|room| *room > 3) else {
            cut(&mut text, bytes_max, sources.len() - at);
            return text;
        };
        let _ = write!(text, "{label}{}", begin(source.text, room));
    }
    text
}

/// Says how many sources are named only in the history.
fn cut(text: &mut String, bytes_max: usize, missing: usize) {
    let note = format!("\n- {missing} more, in the history");
    while text.len() + note.len() > bytes_max && !text.is_empty() {
        text.truncate(text.rfind('\n').unwrap_or(0));
    }
    text.push_str(&note);
    text.truncate(text.floor_char_boundary(bytes_max));
}

/// How a text begins, on one line: whole sentences where some fit, else as many words.
fn begin(text: &str, room: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= room {
        return line;
    }
    let head = &line[..line.floor_char_boundary(room)];
    let ends = head.match_indices(['.', '!', '?', '。', '！', '？']);
    // A dot within a number or a name ends nothing.
    let mut sentences = ends
        .map(|(at, end)| (at + end.len(), end.len()))
        .filter(|(end, bytes)| *bytes > 1 || line[*end..].starts_with(' '))
        .map(|(end, _)| end);
    if let Some(end) = sentences.next_back().filter(|end| *end * 2 > room) {
        return head[..end].to_owned();
    }
    const MARK: &str = "…";
    let head = &line[..line.floor_char_boundary(room.saturating_sub(MARK.len()))];
    let is_whole = line[head.len()..].starts_with(' ');
    let last = head.rfind(' ').filter(|at| !is_whole && *at * 2 > head.len());
    let words = last.map_or(head, |at| &head[..at]);
    format!("{}{MARK}", words.trim_end())
}

/// The days that moments span.
pub(super) fn days(moments: impl Iterator<Item = Timestamp> + Clone) -> String {
    let (first, last) = (moments.clone().min(), moments.max());
    match (first.map(day), last.map(day)) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first,
        (None, _) => String::new(),
    }
}

fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quoted<'a>(name: &'a str, text: &'a str) -> Quoted<'a> {
        Quoted { name, at: Timestamp::from_micros(1_700_000_000_000_000), text }
    }

    #[test]
    fn what_fits_is_quoted_whole_on_one_line() {
        let all = [quoted("a", "They met\nin Rome."), quoted("b", "Ana likes tea.")];
        assert_eq!(
            extract(&all, 500),
            "Quoted from 2 episodes, 2023-11-14; extracted, not written by a model.\n\
             \n- 2023-11-14 a: They met in Rome.\n- 2023-11-14 b: Ana likes tea."
        );
    }

    #[test]
    fn what_does_not_fit_is_cut_at_a_sentence_or_a_word() {
        assert_eq!(begin("One thing. Another thing that is longer.", 14), "One thing.");
        assert_eq!(begin("Version 1.2 is the one they want to have", 14), "Version 1.2…");
        assert_eq!(begin("これは一つ目。これは二つ目です。", 24), "これは一つ目。");
        assert_eq!(begin("abcdefghijklmnop", 9), "abcdef…");
    }

    proptest! {
        #[test]
        fn a_summary_is_never_too_long_and_never_empty(
            texts in proptest::collection::vec("\\PC{0,200}", 2..120),
            bytes_max in 120usize..4000,
        ) {
            let all: Vec<_> = texts.iter().map(|text| quoted("name", text)).collect();
            let text = extract(&all, bytes_max);
            prop_assert!(text.len() <= bytes_max, "{} of {bytes_max}", text.len());
            prop_assert!(!text.trim().is_empty());
        }
    }
}
