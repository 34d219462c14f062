//! Placeholders: `<kind:name>` in an expected body takes whatever of that kind stands there
//! and must be the same wherever the name appears again; in a request it is replaced by what was
//! found before. The name `_` is never remembered. `<repeat:TEXT*N>` is a long text.

use crate::golden::transcript::Request;
use std::collections::HashMap;

/// What placeholders stand for.
#[derive(Default)]
pub(crate) struct Bindings(HashMap<String, String>);

impl Bindings {
    /// The request with its placeholders replaced.
    pub(crate) fn fill_in(&self, request: &Request) -> Request {
        let fill = |text: &String| self.fill(text);
        let headers = request.headers.iter().map(|(name, value)| (name.clone(), fill(value)));
        Request {
            method: request.method.clone(),
            url: fill(&request.url),
            headers: headers.collect(),
            body: fill(&request.body),
        }
    }

    fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, kind, name, after)) = placeholder(rest) {
            filled += before;
            match kind {
                "repeat" => {
                    let (text, times) = name.split_once('*').expect("repeat:TEXT*N");
                    filled += &text.repeat(times.parse().expect("a number of times"));
                }
                _ => {
                    filled += self.0.get(name).unwrap_or_else(|| panic!("{name} is not known yet"))
                }
            }
            rest = after;
        }
        filled + rest
    }

    /// Compares an answer with a pattern and remembers what was found.
    pub(crate) fn compare(&mut self, pattern: &str, answer: &str) -> Result<(), String> {
        let (mut pattern, mut answer) = (pattern, answer);
        while let Some((before, kind, name, after)) = placeholder(pattern) {
            let Some(rest) = answer.strip_prefix(before) else {
                return Err(difference(before, answer));
            };
            let end = match kind {
                "number" => rest.find(|c: char| !c.is_ascii_digit() && !"-+.e".contains(c)),
                _ => rest.find('"'),
            };
            let end = end.ok_or("the answer ends early")?;
            let found = &rest[..end];
            if !is_of_kind(kind, found) {
                return Err(format!("{found} is not <{kind}>"));
            }
            match self.0.get(name) {
                Some(known) if known != found => {
                    return Err(format!("{name} is {found} here and was {known} before"));
                }
                _ if name != "_" => drop(self.0.insert(name.into(), found.into())),
                _ => {}
            }
            (pattern, answer) = (after, &rest[end..]);
        }
        if pattern == answer { Ok(()) } else { Err(difference(pattern, answer)) }
    }
}

/// Text before the first placeholder, its kind and name, and the text after it.
fn placeholder(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, rest) = text.split_once('<')?;
    let (inside, after) = rest.split_once('>')?;
    let (kind, name) = inside.split_once(':')?;
    Some((before, kind, name, after))
}

fn is_of_kind(kind: &str, found: &str) -> bool {
    match kind {
        "text" => !found.is_empty(),
        "number" => found.parse::<f64>().is_ok(),
        "time" => found.len() == 27 && found.ends_with('Z') && found.as_bytes()[10] == b'T',
        "millis" => found.len() == 24 && found.ends_with('Z') && found.as_bytes()[10] == b'T',
        "page" => found.starts_with("page_"),
        prefix => found.strip_prefix(prefix).and_then(|rest| rest.strip_prefix("_01")).is_some_and(
            |digits| digits.len() == 22 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        ),
    }
}

fn difference(expected: &str, found: &str) -> String {
    let same = expected.chars().zip(found.chars()).take_while(|(a, b)| a == b).count();
    let from = |text: &str| text.chars().skip(same.saturating_sub(20)).take(80).collect::<String>();
    format!("expected …{}\n   found …{}", from(expected), from(found))
}
