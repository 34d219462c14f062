//! The form of a transcript:
//!
//! ```text
//! ### what this step shows
//! POST /v1/memory_stores
//! as: reader
//!
//! {"name": "Notes"}
//!
//! HTTP 200
//! content-type: application/json
//!
//! {"id": "<memstore:s>", …}
//! ```
//!
//! Request headers are sent as they are, except `as`, which chooses who asks (see `world`). The
//! headers after the status must be among those of the answer. White space between JSON tokens of
//! an expected body does not count. Lines that start with `//` are comments.

/// One request and what it must be answered with.
pub(crate) struct Step {
    pub(crate) title: String,
    pub(crate) request: Request,
    pub(crate) expected: Expected,
}

#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

pub(crate) struct Expected {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// The steps of a transcript.
pub(crate) fn read(text: &str) -> Vec<Step> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
    let text = lines.join("\n");
    text.split("### ").skip(1).map(step).collect()
}

fn step(text: &str) -> Step {
    let (title, rest) = text.split_once('\n').expect("a title, then a request");
    let (request, expected) =
        rest.split_once("\nHTTP ").expect("a request, then HTTP and a status");
    let (first, headers, body) = message(request);
    let (method, url) = first.split_once(' ').expect("a method and a URL");
    let request =
        Request { method: method.into(), url: url.into(), headers, body: body.trim().into() };
    let (status, headers, body) = message(expected);
    let status = status.parse().expect("a status");
    let expected = Expected { status, headers, body: compact(body) };
    Step { title: title.into(), request, expected }
}

fn message(text: &str) -> (&str, Vec<(String, String)>, &str) {
    let text = text.trim_start();
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let first = lines.next().expect("a first line").trim();
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").expect("a header is `name: value`");
        (name.to_owned(), value.to_owned())
    };
    (first, lines.map(header).collect(), body)
}

/// The JSON text without the white space between its tokens.
fn compact(json: &str) -> String {
    let mut compact = String::with_capacity(json.len());
    let (mut is_in_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        if is_in_string {
            is_in_string = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
        } else if c.is_whitespace() {
            continue;
        } else {
            is_in_string = c == '"';
        }
        compact.push(c);
    }
    compact
}
