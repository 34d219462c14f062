//! Cuts a text into words, once. Contractions become the words they stand for, with or without an
//! apostrophe; what is quoted becomes one token that nobody looks into. Each token knows where in
//! the text it is, and the list is made in one pass whatever the text is.

use super::lexicon::{self, Classes};

/// The longest quotation that is taken as one, in bytes; a longer one has lost its end.
const QUOTE_BYTES_MAX: usize = 600;

/// What sort of token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// What stands between quotation marks or backticks.
    Quoted,
    /// A mark inside a sentence.
    Mark,
    /// A mark that ends a sentence, or the end of a line.
    Stop,
}

/// A word or a mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    /// In lower case, contractions written out.
    pub(super) word: &'t str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
    pub(super) is_capital: bool,
    pub(super) classes: Classes,
}

impl Token<'_> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.word == word
    }

    pub(super) fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&self.word)
    }

    pub(super) fn has(&self, classes: Classes) -> bool {
        self.classes & classes != 0
    }
}

/// The tokens of `text`; `lowered` is the same text in ASCII lower case.
pub(super) fn tokens<'t>(text: &'t str, lowered: &'t str) -> Vec<Token<'t>> {
    let mut out = Vec::with_capacity(text.len() / 4);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let char = text[at..].chars().next().unwrap_or(' ');
        let next = at + char.len_utf8();
        if char == '\n' {
            push_mark(&mut out, lowered, at, next, Kind::Stop);
        } else if char.is_alphanumeric() {
            at = word(&mut out, text, lowered, at);
            continue;
        } else if let Some(close) = closing(text, at, char) {
            let inner = (next, close);
            let end = close + text[close..].chars().next().map_or(1, char::len_utf8);
            let is_capital = text[inner.0..].chars().next().is_some_and(char::is_uppercase);
            let word = &lowered[inner.0..inner.1];
            let (start, kind) = (at, Kind::Quoted);
            out.push(Token { word, start, end, kind, is_capital, classes: 0 });
            at = end;
            continue;
        } else if matches!(char, '.' | '!' | '?' | ';' | '…') {
            let is_decimal = char == '.' && bytes.get(next).is_some_and(u8::is_ascii_alphanumeric);
            if !is_decimal && !ends_abbreviation(&out, char, at) {
                push_mark(&mut out, lowered, at, next, Kind::Stop);
            }
        } else if char == '\'' && is_apostrophe_s(&out, bytes, at) {
            out.push(mark("'s", at, next, Kind::Word));
        } else if !char.is_whitespace() {
            push_mark(&mut out, lowered, at, next, Kind::Mark);
        }
        at = next;
    }
    out
}

fn mark(word: &str, start: usize, end: usize, kind: Kind) -> Token<'_> {
    let classes = lexicon::classes(word);
    Token { word, start, end, kind, is_capital: false, classes }
}

fn push_mark<'t>(out: &mut Vec<Token<'t>>, text: &'t str, start: usize, end: usize, kind: Kind) {
    let word = match &text[start..end] {
        "—" | "–" => "-",
        other => other,
    };
    // An emoji or a smiley closes a sentence as often as a full stop does.
    let is_symbol = word.chars().all(|char| !char.is_ascii() && !char.is_alphabetic());
    let kind = if is_symbol && word != "·" { Kind::Stop } else { kind };
    out.push(mark(word, start, end, kind));
}

/// Where the quotation that begins at `at` ends, if one does.
fn closing(text: &str, at: usize, open: char) -> Option<usize> {
    let close: &[char] = match open {
        '"' => &['"'],
        '“' | '„' => &['”', '“'],
        '«' => &['»'],
        '`' => &['`'],
        // Only where it cannot be an apostrophe.
        '\'' | '‘' => &['\'', '’'],
        _ => return None,
    };
    let is_single = matches!(open, '\'' | '‘');
    let begins_word = text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
    if is_single && !begins_word {
        return None;
    }
    let start = at + open.len_utf8();
    let mut last = open;
    for (offset, char) in text[start..].char_indices() {
        if offset > QUOTE_BYTES_MAX || char == '\n' {
            return None;
        }
        let ends = close.contains(&char) && !last.is_whitespace();
        let after = text[start + offset + char.len_utf8()..].chars().next();
        if ends && !(is_single && after.is_some_and(char::is_alphanumeric)) {
            return Some(start + offset);
        }
        last = char;
    }
    None
}

/// Whether the full stop at `at` belongs to the word before it.
fn ends_abbreviation(out: &[Token<'_>], char: char, at: usize) -> bool {
    let Some(last) = out.last().filter(|last| last.end == at && char == '.') else { return false };
    last.is_one_of(&["dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc", "e.g", "i.e", "approx"])
        || last.is_one_of(&["u.s", "u.k"])
        || (last.word.len() == 1 && last.is_capital && !last.is("i"))
}

/// `parents' house`: an apostrophe after the s of a plural, with a word to follow.
fn is_apostrophe_s(out: &[Token<'_>], bytes: &[u8], at: usize) -> bool {
    out.last().is_some_and(|last| last.end == at && last.word.ends_with('s'))
        && bytes.get(at + 1) == Some(&b' ')
}

/// Reads the word at `at` and returns where it ends.
fn word<'t>(out: &mut Vec<Token<'t>>, text: &'t str, lowered: &'t str, at: usize) -> usize {
    let mut end = at;
    let mut apostrophe = None;
    let mut chars = text[at..].char_indices().peekable();
    while let Some((offset, char)) = chars.next() {
        let follows = chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        let joins = match char {
            '\'' | '’' => follows && apostrophe.is_none(),
            '-' | '.' | '_' | '/' | '@' | '&' | '+' => follows,
            ',' => follows && is_thousands(&text[at..], offset),
            '#' => offset > 0,
            other => other.is_alphanumeric(),
        };
        // "C++" is a word of its own.
        let is_plus = char == '+' && offset > 0;
        if !joins && !is_plus {
            break;
        }
        if matches!(char, '\'' | '’') {
            apostrophe = Some((at + offset, at + offset + char.len_utf8()));
        }
        end = at + offset + char.len_utf8();
    }
    let is_capital = text[at..].chars().next().is_some_and(char::is_uppercase);
    let mut push = |word: &'t str, start: usize, end: usize, is_capital: bool| {
        let is_number = word.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        let kind = if is_number { Kind::Number } else { Kind::Word };
        let classes = lexicon::classes(word);
        out.push(Token { word, start, end, kind, is_capital, classes });
    };
    let whole = &lowered[at..end];
    if let Some((first, second)) = lexicon::contraction(whole) {
        let middle = at + (end - at) / 2;
        let middle = (middle..end).find(|place| text.is_char_boundary(*place)).unwrap_or(end);
        push(first, at, middle, is_capital);
        push(second, middle, end, false);
        return end;
    }
    let Some((mark, after)) = apostrophe else {
        push(whole, at, end, is_capital);
        return end;
    };
    let (stem, tail) = (&lowered[at..mark], &lowered[after..end]);
    let written_out = match tail {
        "m" => "am",
        "re" => "are",
        "ve" => "have",
        "ll" => "will",
        "d" => "'d",
        "s" => "'s",
        "t" if stem.ends_with('n') && stem.len() > 2 => {
            let cut = mark - 1;
            let positive = match stem {
                "can" => "can",
                "won" => "will",
                "shan" => "shall",
                "ain" => "is",
                _ => &lowered[at..cut],
            };
            push(positive, at, cut, is_capital);
            push("not", cut, end, false);
            return end;
        }
        // O'Brien, rock'n'roll.
        _ => {
            push(whole, at, end, is_capital);
            return end;
        }
    };
    push(stem, at, mark, is_capital);
    push(written_out, mark, end, false);
    end
}

/// `12,000`: a comma between digits, three of which follow.
fn is_thousands(word: &str, comma: usize) -> bool {
    let bytes = word.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    comma > 0
        && bytes[..comma].iter().all(|byte| byte.is_ascii_digit() || *byte == b',')
        && digit(comma + 1)
        && digit(comma + 2)
        && digit(comma + 3)
        && !digit(comma + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let lowered = text.to_ascii_lowercase();
        tokens(text, &lowered).iter().map(|token| token.word.to_owned()).collect()
    }

    #[test]
    fn contractions_are_written_out() {
        assert_eq!(words("I'm"), ["i", "am"]);
        assert_eq!(words("I don’t"), ["i", "do", "not"]);
        assert_eq!(words("dont im cant"), ["do", "not", "i", "am", "can", "not"]);
        assert_eq!(words("Ana's won't"), ["ana", "'s", "will", "not"]);
    }

    #[test]
    fn abbreviations_and_decimals_do_not_end_sentences() {
        assert_eq!(words("Dr. Ott, 2.5 km."), ["dr", "ott", ",", "2.5", "km", "."]);
        assert_eq!(words("U.S. node.js C++ 12,000"), ["u.s", "node.js", "c++", "12,000"]);
    }

    #[test]
    fn what_is_quoted_is_one_token() {
        assert_eq!(words("He said \"I am it\" twice"), ["he", "said", "i am it", "twice"]);
        assert_eq!(words("the dogs' bowl 'n stuff")[..3], ["the", "dogs", "'s"]);
    }
}
