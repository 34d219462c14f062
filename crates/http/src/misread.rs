//! What is wrong with a JSON body: said with the name of the field, so that a caller finds it, and
//! never with the value, because answers end up in other people's logs.

/// Refusals of serde that quote what was sent.
const QUOTING: [&str; 3] = ["invalid type", "invalid value", "unknown variant"];
const UNKNOWN: &str = "unknown field `";
/// Characters of a name that nobody here gave.
const NAME_CHARS_MAX: usize = 64;

/// What serde found wrong with a body.
pub(crate) fn told(body: &[u8], error: &serde_json::Error) -> String {
    let text = error.to_string();
    let kind = QUOTING.into_iter().find(|kind| text.starts_with(kind));
    if let (Some(kind), Some(expected)) = (kind, text.rfind(", expected ")) {
        let field = field_at(body, error.line(), error.column());
        return format!("{}: {kind}{}", field.as_deref().unwrap_or("body"), &text[expected..]);
    }
    match text.strip_prefix(UNKNOWN) {
        Some(rest) => {
            let name = rest.split('`').next().unwrap_or_default();
            format!("body: {UNKNOWN}{}`", shortened(name))
        }
        None => format!("body: {text}"),
    }
}

/// The field a place lies in, with those around it: `filter.kind`.
fn field_at(body: &[u8], line: usize, column: usize) -> Option<String> {
    let lines = body.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let body = &body[..body.len().min(before + column)];
    // One for each object or list that is open; a list has no names.
    let mut names: Vec<Option<&[u8]>> = Vec::new();
    let (mut string, mut at): (Option<&[u8]>, usize) = (None, 0);
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => {
                let length = string_length(&body[at + 1..]);
                string = Some(&body[at + 1..at + 1 + length]);
                at += 1 + length;
            }
            b':' => {
                if let Some(name) = names.last_mut() {
                    *name = string.take();
                }
            }
            b'{' | b'[' => names.push(None),
            b'}' | b']' => {
                names.pop();
            }
            _ => {}
        }
        at += 1;
    }
    let names: Vec<String> =
        names.into_iter().flatten().map(|name| shortened(&String::from_utf8_lossy(name))).collect();
    (!names.is_empty()).then(|| names.join("."))
}

/// Bytes up to the quote that ends a string.
fn string_length(rest: &[u8]) -> usize {
    let mut is_escaped = false;
    let ends = |byte: &u8| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    rest.iter().position(ends).unwrap_or(rest.len())
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read by serde")]
    struct Body {
        name: Option<String>,
        kind: Option<Kind>,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        One,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read by serde")]
    struct Inner {
        flags: Vec<bool>,
    }

    #[test]
    fn the_field_is_named_and_the_value_is_not() {
        for (sent, said) in [
            (r#"{"name":7}"#, "name: invalid type, expected a string at line 1 column 9"),
            ("{\n \"kind\": \"secret\"}", "kind: unknown variant, expected `one` at line 2"),
            (r#"{"kind":{"secret":1}}"#, "kind: unknown variant, expected `one`"),
            (r#"{"inner":{"flags":["secret"]}}"#, "inner.flags: invalid type, expected a boolean"),
            (r#"{"inner":"a\", expected b"}"#, "inner: invalid type, expected struct Inner"),
            (r#"{"name":"secret\\","inner":1}"#, "inner: invalid type"),
            (r#"{"oops":"secret"}"#, "body: unknown field `oops`"),
            (r#"{"inner":{}}"#, "body: missing field `flags`"),
            (r#"{"name":"#, "body: EOF while parsing a value"),
        ] {
            let error = serde_json::from_str::<Body>(sent).unwrap_err();
            let told = told(sent.as_bytes(), &error);
            assert!(told.starts_with(said), "{sent}: {told}");
            assert!(!told.contains("secret"), "{sent}: {told}");
        }
    }

    #[test]
    fn names_nobody_gave_are_cut() {
        let sent = format!("{{\"{}\":1}}", "ä".repeat(5000));
        let error = serde_json::from_str::<Body>(&sent).unwrap_err();
        assert!(told(sent.as_bytes(), &error).len() < 250);
    }
}
