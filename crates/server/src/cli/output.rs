//! What commands print: lines for people, one JSON document with `--json`, and progress on standard
//! error when somebody is watching it.
//!
//! Names of files and texts of servers are not trusted: no character of theirs reaches a terminal that
//! controls it or turns the order of what is shown ([`plain`]). Only `loci get` prints content, as it is.

use crate::exit::Failure;
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Human,
    Json,
}

impl Format {
    /// Prints one document, or what `human` makes of it.
    pub(crate) fn show(self, value: &Value, human: impl FnOnce() -> String) -> Result<(), Failure> {
        match self {
            Self::Json => print(&pretty(value)),
            Self::Human => print(&human()),
        }
    }

    /// The same, with a text for people whose parts are plain already and that sets its own marks.
    pub(crate) fn show_styled(
        self,
        value: &Value,
        human: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self {
            Self::Json => print(&pretty(value)),
            Self::Human => print_styled(&human()),
        }
    }
}

/// A text from elsewhere as a part of a line: what controls a terminal, ends a line or turns the order
/// of what is shown is replaced.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    replaced(text, is_unfit)
}

/// The same for whole lines: their ends and tabs stay.
pub(crate) fn plain_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_unfit(c) && c != '\n' && c != '\t')
}

fn replaced(text: &str, is_unfit: impl Fn(char) -> bool) -> Cow<'_, str> {
    match text.chars().any(&is_unfit) {
        false => Cow::Borrowed(text),
        true => {
            let replaced = |c| if is_unfit(c) { char::REPLACEMENT_CHARACTER } else { c };
            Cow::Owned(text.chars().map(replaced).collect())
        }
    }
}

/// Control characters, the separators of lines and paragraphs, and what turns the order of writing.
pub(crate) fn is_unfit(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// Says something on standard error.
pub(crate) fn say(what: &str) {
    eprintln!("loci: {}", plain_lines(what));
}

/// Prints a text and ends it with a newline, unless it is empty or has one.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_styled(&plain_lines(text))
}

/// The same with marks of our own in it.
fn print_styled(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(stdout.flush()?)
}

/// Prints bytes as they are.
pub(crate) fn print_raw(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

fn pretty(value: &Value) -> String {
    escaped(&serde_json::to_string_pretty(value).expect("a JSON value can be written as JSON"))
}

/// JSON that says the same without characters that a terminal would obey. JSON escapes some of them by
/// itself; the others are in its strings only, where an escape stands for each.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match is_unfit(c) && c != '\n' {
            true => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
    }
    text
}

/// Prints a long list as it arrives: `{"data":[…]}` or a line for each item.
pub(crate) struct Listing {
    format: Format,
    is_empty: bool,
}

impl Listing {
    pub(crate) fn start(format: Format, heading: &str) -> Result<Self, Failure> {
        match format {
            Format::Json => print_raw(b"{\"data\":[")?,
            Format::Human => print(heading)?,
        }
        Ok(Self { format, is_empty: true })
    }

    pub(crate) fn item(
        &mut self,
        item: &Value,
        line: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Human => print(&line())?,
            Format::Json => {
                let comma = if self.is_empty { "\n" } else { ",\n" };
                print_raw(format!("{comma}{}", escaped(&item.to_string())).as_bytes())?;
            }
        }
        self.is_empty = false;
        Ok(())
    }

    pub(crate) fn end(self) -> Result<(), Failure> {
        match self.format {
            Format::Human => Ok(()),
            Format::Json => print_raw(b"\n]}\n"),
        }
    }
}

/// Aligned columns; the last one is as wide as it likes.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(ToString::to_string).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&heading]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in [&heading].into_iter().chain(rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A text field, or nothing.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

/// A text field, or a dash.
pub(crate) fn text_or_dash(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or("-").to_owned()
}

/// A number field, or a dash.
pub(crate) fn number_or_dash(value: &Value, name: &str) -> String {
    value[name].as_u64().map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// An actor in a word and an id.
pub(crate) fn actor(value: &Value) -> String {
    let named = ["session_id", "api_key_id", "user_id", "service_account_id"];
    let id = named.iter().find_map(|name| value[*name].as_str());
    id.unwrap_or("-").to_owned()
}

/// Bytes as people say them.
pub(crate) fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{value:.1} {}", UNITS[unit]),
    }
}

/// How far long work has come, on a terminal only.
pub(crate) struct Progress {
    name: &'static str,
    bytes: u64,
    shown: Option<Instant>,
    is_watched: bool,
}

impl Progress {
    const EVERY: Duration = Duration::from_millis(200);

    pub(crate) fn start(name: &'static str) -> Self {
        let is_watched = io::stderr().is_terminal();
        if is_watched {
            eprint!("{name}…");
        }
        Self { name, bytes: 0, shown: None, is_watched }
    }

    pub(crate) fn advance(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        let bytes = self.bytes;
        self.say(|| human_bytes(bytes));
    }

    /// Says how far it is, if it is time to.
    pub(crate) fn say(&mut self, far: impl FnOnce() -> String) {
        let is_due = self.shown.is_none_or(|shown| shown.elapsed() >= Self::EVERY);
        if self.is_watched && is_due {
            eprint!("\r{}: {}   ", self.name, far());
            self.shown = Some(Instant::now());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_watched {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_terminal_would_obey_is_not_printed() {
        let hostile = "a\u{1b}[2Jb\u{9b}c\u{7f}d\r\n\te\u{2028}f\u{202e}g\u{2066}h\u{61c}";
        assert_eq!(
            plain(hostile),
            "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d\u{fffd}\u{fffd}\u{fffd}e\u{fffd}f\u{fffd}g\u{fffd}h\u{fffd}"
        );
        assert_eq!(plain_lines("a\r\n\tb"), "a\u{fffd}\n\tb");
        assert!(matches!(plain("Ünïcödé 日本"), Cow::Borrowed(_)));
        let value = json!({"name": hostile, "n": [1]});
        let shown = pretty(&value);
        assert!(!shown.chars().any(|c| is_unfit(c) && c != '\n'), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "first".into()], vec!["long".into(), "".into()]];
        assert_eq!(table(&["ID", "NAME"], &rows), "ID    NAME\na     first\nlong\n");
    }

    #[test]
    fn bytes_are_rounded_for_people() {
        assert_eq!(human_bytes(1023), "1023 B");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(u64::MAX), "16777216.0 TiB");
    }

    #[test]
    fn fields_that_are_missing_are_dashes() {
        let value =
            json!({"a": "x", "n": 3, "created_by": {"type": "user_actor", "user_id": "user_1"}});
        assert_eq!((text(&value, "a"), text(&value, "b")), ("x", ""));
        assert_eq!(
            (number_or_dash(&value, "n"), number_or_dash(&value, "a")),
            ("3".into(), "-".into())
        );
        assert_eq!(actor(&value["created_by"]), "user_1");
        assert_eq!(actor(&Value::Null), "-");
    }
}
