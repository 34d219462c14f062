//! Who said it: the `Name (date): text` header of a memory, and names inside a query.
//!
//! Conversations are kept one turn per memory with the speaker in front. Knowing the speaker lets
//! ranking prefer what they said, and lets a query lose the name before it is embedded, because a
//! name drags the meaning of a question towards whatever is addressed to that person. A header is a
//! guess; whoever uses it asks for several memories with the same author first.

use super::analyze::{visit_words, words_of};
use super::characters::{is_apostrophe, is_extending};
use std::ops::{ControlFlow, Range};

/// Characters between the parentheses behind a name.
const NOTE_CHARS_MAX: usize = 60;
/// Characters of one word of a name.
const NAME_WORD_CHARS_MAX: usize = 40;

/// Labels that are headers although no name: they are written small.
const ROLES: [&str; 10] =
    ["user", "assistant", "system", "tool", "human", "ai", "agent", "bot", "model", "developer"];

/// A header at the start of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// The name or role as written.
    pub author: &'a str,
    /// Where the text behind the header starts, in bytes.
    pub body_start: usize,
}

/// The header of a content: one or two capitalised words or a role, perhaps something short in
/// parentheses, a colon and a space.
pub fn header(content: &str) -> Option<Header<'_>> {
    let name_end = role_end(content).or_else(|| name_end(content))?;
    let after_note = name_end + note_len(&content[name_end..]);
    let rest = &content[after_note..];
    // The wide colon of East Asian text brings its own space.
    let colon_len = if rest.starts_with('：') {
        '：'.len_utf8()
    } else if rest.starts_with(": ") {
        2
    } else {
        return None;
    };
    Some(Header { author: &content[..name_end], body_start: after_note + colon_len })
}

/// The query without the names, their possessives, and the spaces they leave; the query as it is if
/// nothing else is in it.
pub fn without_names(query: &str, authors: &[&str]) -> String {
    let mut names: Vec<Vec<String>> = authors.iter().map(|author| words_of(author)).collect();
    names.retain(|name| !name.is_empty());
    // "Ann Lee" before "Ann", or the surname would stay behind.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut words: Vec<(String, Range<usize>)> = Vec::new();
    let _ = visit_words(query, |word, range| {
        words.push((word.to_owned(), range));
        ControlFlow::<()>::Continue(())
    });
    let mut kept = String::with_capacity(query.len());
    let mut copied_to = 0;
    let mut at = 0;
    while at < words.len() {
        let found = names.iter().find(|name| {
            words.len() - at >= name.len()
                && name.iter().zip(&words[at..]).all(|(part, (word, _))| part == word)
        });
        let Some(name) = found else {
            at += 1;
            continue;
        };
        let end = words[at + name.len() - 1].1.end;
        kept.push_str(&query[copied_to..words[at].1.start]);
        // The bare apostrophe of "James' dog".
        copied_to = match query[end..].chars().next() {
            Some(c) if is_apostrophe(c) => end + c.len_utf8(),
            _ => end,
        };
        at += name.len();
    }
    kept.push_str(&query[copied_to..]);
    if copied_to == 0 || !kept.chars().any(char::is_alphanumeric) {
        return query.to_owned();
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn role_end(content: &str) -> Option<usize> {
    let end = content.bytes().take(16).take_while(u8::is_ascii_lowercase).count();
    ROLES.contains(&&content[..end]).then_some(end)
}

/// The end of one or two capitalised words.
fn name_end(content: &str) -> Option<usize> {
    let first = name_word_len(content)?;
    let second = content[first..].strip_prefix(' ').and_then(name_word_len);
    Some(second.map_or(first, |len| first + 1 + len))
}

/// The length of a word that starts with a capital, or with a letter of a script without capitals.
fn name_word_len(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if !first.is_alphabetic() || first.is_lowercase() {
        return None;
    }
    let is_inside = |c: char| {
        c.is_alphanumeric() || is_extending(c) || is_apostrophe(c) || matches!(c, '_' | '.' | '-')
    };
    let mut len = 0;
    for (count, c) in text.chars().take_while(|c| is_inside(*c)).enumerate() {
        if count == NAME_WORD_CHARS_MAX {
            return None;
        }
        len += c.len_utf8();
    }
    Some(len)
}

/// The length of ` (note)`, 0 if there is none.
fn note_len(text: &str) -> usize {
    let Some(inside) = text.strip_prefix(" (") else { return 0 };
    for (count, (at, c)) in inside.char_indices().enumerate() {
        match c {
            ')' => return 2 + at + 1,
            '\n' => return 0,
            _ if count == NOTE_CHARS_MAX => return 0,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers() {
        let table = [
            ("Caroline (8 May, 2023): Hey Mel!", Some(("Caroline", "Hey Mel!"))),
            ("Melanie: Hi", Some(("Melanie", "Hi"))),
            ("Dr. O'Neil-Smith (1:56 pm on 8 May): x", Some(("Dr. O'Neil-Smith", "x"))),
            ("Ann Lee: x", Some(("Ann Lee", "x"))),
            ("user: hello", Some(("user", "hello"))),
            ("assistant (gpt): hello", Some(("assistant", "hello"))),
            ("Élodie: oui", Some(("Élodie", "oui"))),
            ("田中：こんにちは", Some(("田中", "こんにちは"))),
            ("田中: こんにちは", Some(("田中", "こんにちは"))),
            ("A: ", Some(("A", ""))),
            ("http://example.org", None),
            ("Http://example.org", None),
            ("10:30 meeting", None),
            ("users: hello", None),
            ("note: hello", None),
            ("Three Capital Words: x", None),
            ("Caroline:x", None),
            ("Caroline said: x", None),
            ("Caroline (no end: x", None),
            ("Caroline (two\nlines): x", None),
            ("", None),
            (": x", None),
            ("Caroline", None),
        ];
        for (content, expected) in table {
            let found = header(content).map(|found| (found.author, &content[found.body_start..]));
            assert_eq!(found, expected, "{content}");
        }
        let note = |len: usize| format!("Ann ({}): x", "n".repeat(len));
        assert!(header(&note(NOTE_CHARS_MAX)).is_some());
        assert!(header(&note(NOTE_CHARS_MAX + 1)).is_none());
        assert!(header(&format!("A{}: x", "n".repeat(100_000))).is_none());
    }

    #[test]
    fn queries_without_names() {
        let table: [(&str, &[&str], &str); 9] = [
            ("What did Caroline research?", &["Caroline"], "What did research?"),
            ("What is Caroline's  job?", &["caroline"], "What is job?"),
            ("James' dog and JAMES’s cat", &["James"], "dog and cat"),
            ("Ann Lee met Ann", &["Ann", "Ann Lee"], "met"),
            ("Caroline?", &["Caroline"], "Caroline?"),
            ("no  name  here", &["Caroline"], "no  name  here"),
            ("田中さんは何を", &["田中"], "さんは何を"),
            ("anything", &["", "?"], "anything"),
            ("", &["Ann"], ""),
        ];
        for (query, authors, expected) in table {
            assert_eq!(without_names(query, authors), expected, "{query}");
        }
    }

    proptest! {
        #[test]
        fn any_content(content in "[A-Za-z]{0,5}( [A-Z][a-z]{0,3})?( \\(\\PC{0,70}\\))?:? ?\\PC{0,20}|\\PC{0,40}") {
            if let Some(found) = header(&content) {
                prop_assert!(content.get(found.body_start..).is_some());
                prop_assert!(found.author.len() < found.body_start);
            }
        }

        #[test]
        fn any_query(query in "\\PC{0,40}", name in "[A-Z][a-z]{0,3}|\\PC{0,6}") {
            let with_name = format!("{query} {name}'s {query}");
            let kept = without_names(&with_name, &[name.as_str()]);
            prop_assert!(kept.len() <= with_name.len());
        }
    }
}
