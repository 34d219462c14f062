//! Texts as numbered lines, and what edits do to them: pure functions, so that every odd case can
//! be tested without a store. Lines end at `\n` only; every other byte is kept as it is.

use std::fmt::Write;

/// Characters of a file that one answer shows.
pub(super) const SHOWN_CHARS_MAX: usize = 16_000;
/// Lines of a file that can be shown at all.
pub(super) const LINES_MAX: usize = 999_999;
/// Occurrences that an answer names by their lines.
const NAMED_MAX: usize = 100;
/// Lines shown before and after a change.
const AROUND: usize = 2;

/// Lines `from` (counted from 0) up to `to`, numbered from 1, joined without a last newline. Says
/// so in a line of its own when there is more than an answer shows.
pub(super) fn numbered(text: &str, from: usize, to: usize) -> String {
    let mut shown = String::new();
    // Newlines count too, or a file of them would never be cut; the first line has none before it.
    let mut left = SHOWN_CHARS_MAX + 1;
    let lines = text.split('\n').enumerate().take(to).skip(from);
    for (at, (index, line)) in lines.enumerate() {
        let separator = if at == 0 { "" } else { "\n" };
        let number = index + 1;
        let chars = line.chars().count();
        if chars < left {
            left -= chars + 1;
            write!(shown, "{separator}{number:>6}\t{line}").expect("a String takes it");
            continue;
        }
        if left > 0 {
            let part: String = line.chars().take(left - 1).collect();
            write!(shown, "{separator}{number:>6}\t{part}").expect("a String takes it");
        }
        let total = text.chars().count();
        write!(
            shown,
            "\n[Truncated in line {number}: {SHOWN_CHARS_MAX} of {total} characters are shown. \
             Use view_range to see other lines.]"
        )
        .expect("a String takes it");
        break;
    }
    shown
}

/// How many lines a text shows as.
pub(super) fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// The lines (from 0, end excluded) that a range of a view means: a start below 1 is 1, an end of
/// −1 is the end. What lies outside is nothing.
pub(super) fn window(range: Option<(i64, i64)>, lines: usize) -> (usize, usize) {
    let Some((start, end)) = range else { return (0, lines) };
    let start = usize::try_from(start.max(1)).unwrap_or(usize::MAX) - 1;
    let end = match end {
        -1 => lines,
        end => usize::try_from(end).unwrap_or(0).min(lines),
    };
    (start, end)
}

/// What replacing a text comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// It is not there.
    NotFound,
    /// It is there more than once, beginning in these lines.
    Ambiguous(String),
    /// The text after it, and the lines around the change.
    Done { text: String, snippet: String },
}

/// Replaces the only occurrence of a text. Occurrences may overlap and reach over lines, and each
/// is counted, as in the Python helper: what overlaps itself is not unique.
pub(super) fn replace_only(text: &str, old: &str, new: &str) -> Replaced {
    let found = occurrences(text, old);
    match found.as_slice() {
        [] => Replaced::NotFound,
        [at] => {
            let after = [&text[..*at], new, &text[at + old.len()..]].concat();
            let line = line_count(&text[..*at]) - 1;
            let from = line.saturating_sub(AROUND);
            let snippet = numbered(&after, from, line + line_count(new) + AROUND);
            Replaced::Done { text: after, snippet }
        }
        several => Replaced::Ambiguous(lines_of(text, several)),
    }
}

/// Where a text occurs; one more than are named is enough to know.
fn occurrences(text: &str, old: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(first) = old.chars().next() else { return found };
    let mut from = 0;
    while found.len() <= NAMED_MAX
        && let Some(at) = text[from..].find(old)
    {
        found.push(from + at);
        from += at + first.len_utf8();
    }
    found
}

fn lines_of(text: &str, found: &[usize]) -> String {
    let (mut line, mut counted, mut named) = (1, 0, String::new());
    for (index, at) in found.iter().enumerate() {
        line += line_count(&text[counted..*at]) - 1;
        counted = *at;
        if index == NAMED_MAX {
            named.push_str(", …");
            break;
        }
        let separator = if index == 0 { "" } else { ", " };
        write!(named, "{separator}{line}").expect("a String takes it");
    }
    named
}

/// Puts a text after a line, or tells how many lines there are. Like the Python helper: the empty
/// rest after a last newline is no line, all newlines at the end of what is inserted are dropped,
/// and the result ends with one.
pub(super) fn insert_after(text: &str, line: i64, insert: &str) -> Result<String, usize> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut lines: Vec<&str> =
        if text.is_empty() { Vec::new() } else { body.split('\n').collect() };
    match usize::try_from(line) {
        Ok(line) if line <= lines.len() => {
            lines.insert(line, insert.trim_end_matches('\n'));
            Ok(lines.join("\n") + "\n")
        }
        _ => Err(lines.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_kept() {
        assert_eq!(numbered("a\r\nb\n", 0, 9), "     1\ta\r\n     2\tb\n     3\t");
        assert_eq!(numbered("", 0, 9), "     1\t");
        assert_eq!(numbered("a\nb\nc", 1, 2), "     2\tb");
        assert_eq!(numbered("a", 5, 9), "");
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let exact = "é".repeat(SHOWN_CHARS_MAX);
        assert_eq!(numbered(&exact, 0, 1), format!("     1\t{exact}"));
        let long = format!("{exact}\u{e9}x");
        let shown = numbered(&long, 0, 1);
        assert!(shown.ends_with(
            "\n[Truncated in line 1: 16000 of 16002 characters are shown. \
             Use view_range to see other lines.]"
        ));
        assert!(shown.starts_with(&format!("     1\t{exact}\n[")));
        let many = "x\n".repeat(20_000);
        let shown = numbered(&many, 0, 20_001);
        assert!(
            shown.lines().last().unwrap().starts_with("[Truncated in line 8001:"),
            "{shown:.99}"
        );
        assert_eq!(numbered(&many, 19_999, 20_001), " 20000\tx\n 20001\t");
        let newlines = numbered(&"\n".repeat(50_000), 0, 50_001);
        assert_eq!(newlines.lines().count(), SHOWN_CHARS_MAX + 2);
        let full = format!("{}\n", "x".repeat(SHOWN_CHARS_MAX - 1));
        assert!(numbered(&full, 0, 2).ends_with("\n     2\t"));
    }

    #[test]
    fn windows() {
        for (range, expected) in [
            (None, (0, 5)),
            (Some((1, -1)), (0, 5)),
            (Some((2, 3)), (1, 3)),
            (Some((0, 2)), (0, 2)),
            (Some((-7, 2)), (0, 2)),
            (Some((4, 99)), (3, 5)),
            (Some((9, 12)), (8, 5)),
            (Some((3, 0)), (2, 0)),
            (Some((3, -2)), (2, 0)),
            (Some((i64::MAX, i64::MIN)), (i64::MAX as usize - 1, 0)),
        ] {
            assert_eq!(window(range, 5), expected, "{range:?}");
        }
    }

    #[test]
    fn replacing() {
        let done = |text: &str, old: &str, new: &str| match replace_only(text, old, new) {
            Replaced::Done { text, snippet } => (text, snippet),
            other => panic!("{other:?}"),
        };
        let (text, snippet) = done("1\n2\n3\n4\n5\n6\n7", "4", "x\ny");
        assert_eq!(text, "1\n2\n3\nx\ny\n5\n6\n7");
        let lines = ["     2\t2", "     3\t3", "     4\tx", "     5\ty", "     6\t5", "     7\t6"];
        assert_eq!(snippet, lines.join("\n"));
        assert_eq!(done("a b", "b", ""), ("a ".into(), "     1\ta ".into()));
        assert_eq!(done("a$b", "$", "$&").0, "a$&b", "what replaces is literal");
        for (text, old, lines) in [
            ("a\nb\na", "a", "1, 3"),
            ("aa", "a", "1, 1"),
            ("aaa", "aa", "1, 1"),
            ("x\nx\nx\n", "x\nx", "1, 2"),
            ("éé", "é", "1, 1"),
        ] {
            assert_eq!(replace_only(text, old, ""), Replaced::Ambiguous(lines.into()), "{text:?}");
        }
        let Replaced::Ambiguous(lines) = replace_only(&"a\n".repeat(5000), "a", "") else {
            panic!()
        };
        assert!(lines.ends_with("99, 100, …"), "{lines}");
        for (text, old) in [("abc", "d"), ("abc", ""), ("", "a"), ("ab", "abc")] {
            assert_eq!(replace_only(text, old, "x"), Replaced::NotFound, "{text:?} {old:?}");
        }
    }

    #[test]
    fn inserting() {
        for (text, line, insert, expected) in [
            ("a\nb\n", 1, "x", Ok("a\nx\nb\n")),
            ("a\nb\n", 0, "x\n\n", Ok("x\na\nb\n")),
            ("a\nb", 2, "x\ny", Ok("a\nb\nx\ny\n")),
            ("a\r\nb\r\n", 1, "x", Ok("a\r\nx\nb\r\n")),
            ("", 0, "x", Ok("x\n")),
            ("\n", 1, "x", Ok("\nx\n")),
            ("", 1, "x", Err(0)),
            ("a\nb\n", 3, "x", Err(2)),
            ("a\nb\n", -1, "x", Err(2)),
        ] {
            let got = insert_after(text, line, insert);
            assert_eq!(got.as_deref().map_err(|lines| *lines), expected, "{text:?} {line}");
        }
    }
}
