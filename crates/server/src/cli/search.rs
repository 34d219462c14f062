//! `loci search`: the best memories for a query, each with the words that made it one.
//!
//! What is printed was written by others: control characters never reach the terminal.

use super::args::{SearchArgs, SearchMode};
use super::client::Client;
use super::find::{self, store_url};
use super::output::{Format, is_unfit, plain, text};
use crate::exit::Failure;
use loci_model::limit;
use serde_json::{Value, json};
use std::io::{self, IsTerminal};

const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &SearchArgs,
) -> Result<(), Failure> {
    let store = match &args.store {
        Some(named) => Some(find::store(client, named).await?),
        None => None,
    };
    let url = match &store {
        Some(store) => format!("{}/search", store_url(store)),
        None => "/v1/search".to_owned(),
    };
    let answer = client.ask(&url, &request(args)).await?;
    let style = Style {
        is_bold: io::stdout().is_terminal(),
        is_store_shown: store.is_none(),
        is_explained: args.explain,
    };
    format.show_styled(&answer, || {
        let hits = answer["data"].as_array().into_iter().flatten();
        hits.map(|hit| style.hit(hit)).collect()
    })?;
    let is_cut_short = answer["is_complete"].as_bool() == Some(false);
    if args.wait && is_cut_short && args.mode != SearchMode::Lexical {
        return Err(Failure::failed("not everything can be found by meaning yet"));
    }
    Ok(())
}

fn request(args: &SearchArgs) -> Value {
    let mut filter = json!({"kind": args.kinds, "tags": args.tags});
    if let Some(prefix) = &args.prefix {
        let slash = if prefix.ends_with('/') { "" } else { "/" };
        filter["path_prefix"] = json!(format!("{prefix}{slash}"));
    }
    let mut request = json!({
        "query": args.query.join(" "), "limit": args.limit, "mode": args.mode.name(),
        "filter": filter, "explain": args.explain, "view": "basic",
    });
    if let Some(when) = &args.as_of {
        request["as_of"] = when.parse::<u64>().map_or_else(|_| json!(when), |seq| json!(seq));
    }
    if args.wait {
        request["wait_for"] = json!("latest");
        request["wait_seconds"] = json!(limit::SEARCH_WAIT_SECS_MAX);
    }
    request
}

/// How results are shown to people.
struct Style {
    is_bold: bool,
    is_store_shown: bool,
    is_explained: bool,
}

impl Style {
    fn hit(&self, hit: &Value) -> String {
        // A hair below nothing is nothing, without a sign.
        let score = (hit["score"].as_f64().unwrap_or(0.0) * 1000.0).round() / 1000.0 + 0.0;
        let mut shown = format!("{score:.3}  {}", plain(text(hit, "path")));
        if self.is_store_shown {
            shown.push_str(&format!("  ({})", plain(text(hit, "memory_store_id"))));
        }
        shown.push('\n');
        let snippet = self.snippet(text(hit, "snippet"), &hit["highlights"]);
        if !snippet.trim().is_empty() {
            shown.push_str(&format!("       {}\n", snippet.trim()));
        }
        if self.is_explained {
            shown.push_str(&format!("       {}\n", plain(&explanation(&hit["explanation"]))));
        }
        shown
    }

    /// The snippet on one line, its matches bold where that can be seen.
    fn snippet(&self, snippet: &str, highlights: &Value) -> String {
        let spans: Vec<(u64, u64)> = highlights
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|span| Some((span[0].as_u64()?, span[1].as_u64()?)))
            .collect();
        let mut line = String::new();
        let mut is_inside = false;
        for (at, c) in (0..).zip(snippet.chars()) {
            let is_match = spans.iter().any(|(start, end)| (*start..*end).contains(&at));
            if self.is_bold && is_match != is_inside {
                line.push_str(if is_match { BOLD } else { PLAIN });
                is_inside = is_match;
            }
            line.push(if is_unfit(c) || c.is_whitespace() { ' ' } else { c });
        }
        if is_inside {
            line.push_str(PLAIN);
        }
        line
    }
}

/// Every part of a score that is not nothing.
fn explanation(why: &Value) -> String {
    let number = |name: &str| why[name].as_f64().unwrap_or(0.0);
    let mut parts =
        vec![format!("words {:.2} ({:.2})", number("lexical"), number("lexical_normalised"))];
    match why["semantic"].as_f64() {
        Some(similarity) => {
            parts.push(format!("meaning {similarity:.2} ({:.2})", number("semantic_normalised")));
        }
        None => parts.push("meaning -".into()),
    }
    parts.push(format!("words weigh {:.2}", number("lexical_weight")));
    parts.push(format!("fused {:.3}", number("fused")));
    let author = number("author_boost");
    if author != 1.0 && author != 0.0 {
        parts.push(format!("author ×{author:.2}"));
    }
    for (name, shown) in [
        ("directory_prior", "directory"),
        ("recency", "recency"),
        ("importance", "importance"),
        ("pinned", "pinned"),
    ] {
        if number(name) != 0.0 {
            parts.push(format!("{shown} +{:.3}", number(name)));
        }
    }
    let words: Vec<&str> =
        why["words"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !words.is_empty() {
        let words: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
        parts.push(format!("has: {words}"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(is_bold: bool) -> Style {
        Style { is_bold, is_store_shown: false, is_explained: false }
    }

    #[test]
    fn nothing_has_no_sign() {
        for score in [-0.0, -0.000_4, 0.000_4] {
            let shown = style(false).hit(&json!({"score": score, "path": "/a"}));
            assert!(shown.starts_with("0.000  /a"), "{shown}");
        }
        let shown = style(false).hit(&json!({"score": -0.25, "path": "/a"}));
        assert!(shown.starts_with("-0.250"), "{shown}");
    }

    #[test]
    fn matches_are_bold_on_a_terminal_only() {
        let (snippet, spans) = ("über Tee, viel Tee", json!([[5, 8], [15, 18]]));
        assert_eq!(style(false).snippet(snippet, &spans), snippet);
        let bold = style(true).snippet(snippet, &spans);
        assert_eq!(bold, "über \x1b[1mTee\x1b[0m, viel \x1b[1mTee\x1b[0m");
    }

    #[test]
    fn a_memory_cannot_speak_to_the_terminal() {
        let hit = json!({
            "score": 0.5, "path": "/a", "snippet": "x\u{1b}]0;title\u{7}y\nz\u{9b}1m",
            "highlights": [[0, 1]],
        });
        assert_eq!(style(false).hit(&hit), "0.500  /a\n       x ]0;title y z 1m\n");
    }

    #[test]
    fn an_explanation_leaves_out_what_is_nothing() {
        let why = json!({
            "lexical": 7.25, "lexical_normalised": 1.0, "semantic": null, "semantic_normalised": 0.0,
            "lexical_weight": 0.5, "fused": 0.5, "author_boost": 1.5, "directory_prior": 0.25,
            "recency": 0.0, "importance": 0.0, "pinned": 0.0, "words": ["tea"],
        });
        let shown = "words 7.25 (1.00), meaning -, words weigh 0.50, fused 0.500, author ×1.50, \
                     directory +0.250, has: tea";
        assert_eq!(explanation(&why), shown);
    }
}
