//! `output_template`: one text for each record, put together with nothing between. A single pass, so
//! that what a record says is never read as a template.

use super::record::Record;

/// A template, cut into text and tokens once for all records.
pub(super) struct Template(Vec<Piece>);

enum Piece {
    Text(String),
    Token(Token),
}

#[derive(Clone, Copy)]
enum Token {
    Content,
    Kind,
    Scope,
    Guid,
    Source,
    Tags,
}

const TOKENS: [(&str, Token); 6] = [
    ("{{content}}", Token::Content),
    ("{{kind}}", Token::Kind),
    ("{{scope}}", Token::Scope),
    ("{{guid}}", Token::Guid),
    ("{{source}}", Token::Source),
    ("{{tags}}", Token::Tags),
];

impl Template {
    /// Cuts a template. Braces that are no token are text.
    pub(super) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let (mut start, mut at) = (0, 0);
        while let Some(found) = text[at..].find("{{") {
            at += found;
            let named = TOKENS.iter().find(|(name, _)| text[at..].starts_with(name));
            let Some((name, token)) = named else {
                // A token may begin at the second brace of three.
                at += 1;
                continue;
            };
            pieces.push(Piece::Text(text[start..at].to_owned()));
            pieces.push(Piece::Token(*token));
            at += name.len();
            start = at;
        }
        pieces.push(Piece::Text(text[start..].to_owned()));
        Self(pieces)
    }

    /// Adds a record, unless that would be more than so many bytes; then says no.
    pub(super) fn render(&self, record: &Record<'_>, to: &mut String, bytes_max: usize) -> bool {
        for piece in &self.0 {
            let mut add = |text: &str| {
                let fits = to.len() + text.len() <= bytes_max;
                if fits {
                    to.push_str(text);
                }
                fits
            };
            let fits = match piece {
                Piece::Text(text) => add(text),
                Piece::Token(Token::Content) => add(record.content),
                Piece::Token(Token::Kind) => add(&record.kind),
                Piece::Token(Token::Scope) => add(record.scope),
                Piece::Token(Token::Guid) => add(&record.guid),
                Piece::Token(Token::Source) => add(record.source),
                Piece::Token(Token::Tags) => add(&record.tags.join(", ")),
            };
            if !fits {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, expected: &str) {
        let tags = ["a".to_owned(), "b c".to_owned()];
        let record = Record {
            guid: "g-1".into(),
            scope: "s",
            kind: "k k".into(),
            content: "{{kind}} $1 {{guid}}",
            source: "bot",
            tags: &tags,
            created_at: 1,
            updated_at: 2,
        };
        let mut rendered = String::new();
        assert!(Template::parse(template).render(&record, &mut rendered, 1000));
        assert_eq!(rendered, expected, "{template}");
    }

    #[test]
    fn every_token_is_replaced_once() {
        check("{{content}}", "{{kind}} $1 {{guid}}");
        check("{{kind}}{{kind}}", "k kk k");
        check("{{scope}}/{{guid}} by {{source}}: {{tags}}\n", "s/g-1 by bot: a, b c\n");
        check("", "");
        check("no tokens", "no tokens");
    }

    #[test]
    fn what_is_no_token_stays() {
        for same in
            ["{{}}", "{{ kind }}", "{{Kind}}", "{{created_at}}", "{{kind", "{kind}", "{{", "}}{{"]
        {
            check(same, same);
        }
        check("{{{kind}}}", "{k k}");
        check("{{{{kind}}}}", "{{k k}}");
        check("{{kind}{{kind}}", "{{kind}k k");
        check("é{{kind}}é", "ék ké");
    }

    #[test]
    fn a_small_template_does_not_become_a_large_text() {
        let text = "x".repeat(1000);
        let record = Record {
            guid: String::new(),
            scope: "",
            kind: "".into(),
            content: &text,
            source: "",
            tags: &[],
            created_at: 0,
            updated_at: 0,
        };
        let template = "{{content}}".repeat(1000);
        let mut rendered = String::new();
        assert!(!Template::parse(&template).render(&record, &mut rendered, 10_000));
        assert!(rendered.len() <= 10_000);
    }
}
