//! Paths of the native shape: `/memories` is the root, `/memories/x` is the memory at `/x`, and
//! `/memories/shared/<id>/x` the memory at `/x` of the store that `<id>` names.
//!
//! Paths are refused, not repaired. There is no file system behind them and nothing decodes them,
//! but a path that another program could read as leading out is not taken in either: no `..`, in
//! any encoding of dots and slashes however often encoded, no backslash, no control characters, no
//! empty segment. What merely looks odd (`link -> /etc`) is a name.

use super::answer::{Stop, says};
use crate::key::Name;
use loci_model::{MemoryPath, PathPrefix, limit};
use percent_encoding::percent_decode;
use std::fmt;

/// Where the tool's tree begins.
pub(super) const ROOT: &str = "/memories";
/// The directory below which other stores are.
pub(super) const SHARED: &str = "/memories/shared/";

/// How often a path is decoded in search of what it may hide. Each decoding makes it shorter, and a
/// path that still changes after these hides something.
const DECODINGS_MAX: usize = 8;

/// A path that is safe to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolPath {
    /// As it was given, without a trailing slash; answers repeat it.
    shown: String,
    /// The store it is in, when not the caller's own.
    store: Option<String>,
    /// The memory, or none for the root of the store.
    memory: Option<MemoryPath>,
}

impl ToolPath {
    /// Checks every rule.
    pub(super) fn parse(text: &str) -> Result<Self, Stop> {
        if text.len() > limit::PATH_BYTES_MAX + SHARED.len() + limit::NAME_CHARS_MAX {
            return says(format!("path takes up to {} bytes", limit::PATH_BYTES_MAX));
        }
        let below = text.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(below) = below else {
            return says(format!("Path must start with /memories, got: {text}"));
        };
        let below = below.strip_suffix('/').unwrap_or(below);
        if !is_safe(below) {
            return says(format!("Path {text} would escape /memories directory"));
        }
        let shown = format!("{ROOT}{below}");
        let (store, rest) = match shown.strip_prefix(SHARED) {
            None => (None, below),
            Some(rest) => {
                let (id, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(id.to_owned()), rest)
            }
        };
        let memory = match rest {
            "" => None,
            path => match MemoryPath::parse(path) {
                Ok(path) => Some(path),
                Err(invalid) => return says(format!("Invalid path: {invalid}")),
            },
        };
        Ok(Self { store, memory, shown })
    }

    /// The store it is in, when not the caller's own.
    pub(super) fn store(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// The memory it names; the root names none.
    pub(super) fn memory(&self) -> Option<&MemoryPath> {
        self.memory.as_ref()
    }

    /// Where the memory may be: at the path itself, or where the other shape keeps the entry whose
    /// key the path is.
    pub(super) fn exact(&self) -> Vec<MemoryPath> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let mut paths = paths_of(&memory.as_str()[1..]);
        paths.retain(|path| path != memory);
        paths.insert(0, memory.clone());
        paths
    }

    /// Where else it may be when it is not there, because the other shape drops a last `.md`.
    pub(super) fn plain(&self) -> Vec<MemoryPath> {
        let given = self.memory.as_ref().map_or("", |memory| &memory.as_str()[1..]);
        plain_key(given).map(paths_of).unwrap_or_default()
    }

    /// Everything below it.
    pub(super) fn prefix(&self) -> PathPrefix {
        self.memory.as_ref().map_or_else(PathPrefix::root, prefix_of)
    }

    /// What the tool calls a memory that is in the same store.
    pub(super) fn show(&self, path: &MemoryPath) -> String {
        match &self.store {
            None => format!("{ROOT}{path}"),
            Some(store) => format!("{SHARED}{store}{path}"),
        }
    }
}

impl fmt::Display for ToolPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Every path an entry may have, those of other doors too; none for what can be no key.
pub(super) fn paths_of(key: &str) -> Vec<MemoryPath> {
    Name { namespace: String::new(), key: key.to_owned() }.paths().unwrap_or_default()
}

/// A key without the ending that clients of entries drop, if it has it.
pub(super) fn plain_key(given: &str) -> Option<&str> {
    given.strip_suffix(".md").filter(|plain| !plain.is_empty())
}

/// Everything below a path.
pub(super) fn prefix_of(path: &MemoryPath) -> PathPrefix {
    PathPrefix::parse(&format!("{path}/")).expect("a path with a slash is a prefix")
}

/// Whether nothing in a path, which is empty or starts with a slash, leads out.
fn is_safe(path: &str) -> bool {
    let is_plain = |c: char| c != '\\' && !c.is_control();
    let mut segments = path.split('/').skip(1);
    if !path.chars().all(is_plain) || segments.any(|name| matches!(name, "" | ".")) {
        return false;
    }
    let mut bytes = path.as_bytes().to_vec();
    for _ in 0..DECODINGS_MAX {
        if climbs(&bytes) {
            return false;
        }
        let decoded: Vec<u8> = percent_decode(&bytes).collect();
        let decoded = plain_dots(decoded);
        if decoded == bytes {
            return true;
        }
        bytes = decoded;
    }
    false
}

/// Whether a segment is `..`, or a byte ends texts early.
fn climbs(path: &[u8]) -> bool {
    path.contains(&0) || path.split(|byte| matches!(byte, b'/' | b'\\')).any(|name| name == b"..")
}

/// Dots, slashes and backslashes in the two-byte form that UTF-8 forbids but some decoders accept.
fn plain_dots(bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.contains(&0xc0) && !bytes.contains(&0xc1) {
        return bytes;
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (0xc0, [0xae, after @ ..]) => (b'.', after),
            (0xc0, [0xaf, after @ ..]) => (b'/', after),
            (0xc1, [0x9c, after @ ..]) => (b'\\', after),
            _ => (first, after),
        };
        plain.push(byte);
        rest = after;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &str) -> String {
        match ToolPath::parse(path) {
            Err(Stop::Says(words)) => words,
            other => panic!("{path:?}: {other:?}"),
        }
    }

    #[test]
    fn only_what_is_below_the_root() {
        for path in ["", "/", "x", "memories/x", "/memoriesX", "/memoriesX/a", "/etc/passwd"] {
            assert_eq!(refusal(path), format!("Path must start with /memories, got: {path}"));
        }
    }

    #[test]
    fn nothing_leads_out() {
        for path in [
            "/memories/..",
            "/memories/../etc/passwd",
            "/memories/a/../b",
            "/memories/a/../../etc",
            "/memories/..\\etc",
            "/memories/a\\b",
            "/memories\\..\\etc",
            "/memories/%2e%2e/etc",
            "/memories/%2e%2e%2fetc",
            "/memories/%2E%2E%2Fetc",
            "/memories/.%2e/etc",
            "/memories/..%2fetc",
            "/memories/..%5cetc",
            "/memories/%2e%2e%5cetc",
            "/memories/%252e%252e%252fetc",
            "/memories/%25252e%25252e/etc",
            "/memories/a%2f..%2fb",
            "/memories/%c0%ae%c0%ae/etc",
            "/memories/..%c0%afetc",
            "/memories/a%00b",
            "/memories/a\u{0}b",
            "/memories/a\nb",
            "/memories/a\u{7f}",
            "/memories//a",
            "/memories/a//b",
            "/memories//",
            "/memories/./a",
            "/memories/.",
        ] {
            // What does not even begin right is told so.
            let expected = match path.starts_with("/memories/") {
                true => format!("Path {path} would escape /memories directory"),
                false => format!("Path must start with /memories, got: {path}"),
            };
            assert_eq!(refusal(path), expected);
        }
        for times in [3, DECODINGS_MAX, 40] {
            let dot = format!("%{}2e", "25".repeat(times));
            let path = format!("/memories/{dot}{dot}/x");
            assert!(ToolPath::parse(&path).is_err(), "encoded {times} times over");
        }
    }

    #[test]
    fn odd_names_are_names() {
        for (path, memory) in [
            ("/memories/a.md", Some("/a.md")),
            ("/memories/a/b/c", Some("/a/b/c")),
            ("/memories/a/", Some("/a")),
            ("/memories/link -> /etc", Some("/link -> /etc")),
            ("/memories/...", Some("/...")),
            ("/memories/a..b", Some("/a..b")),
            ("/memories/.hidden", Some("/.hidden")),
            ("/memories/100%", Some("/100%")),
            ("/memories/a%2Fb", Some("/a%2Fb")),
            ("/memories/日本語", Some("/日本語")),
            ("/memories/shared", Some("/shared")),
            ("/memories", None),
            ("/memories/", None),
        ] {
            let parsed = ToolPath::parse(path).unwrap();
            assert_eq!(parsed.memory().map(MemoryPath::as_str), memory, "{path}");
            assert_eq!(parsed.store(), None);
            assert_eq!(parsed.to_string(), path.strip_suffix('/').unwrap_or(path));
        }
    }

    #[test]
    fn other_stores_are_below_shared() {
        let parsed = ToolPath::parse("/memories/shared/42/a/b").unwrap();
        assert_eq!((parsed.store(), parsed.memory().unwrap().as_str()), (Some("42"), "/a/b"));
        assert_eq!(parsed.show(parsed.memory().unwrap()), "/memories/shared/42/a/b");
        let root = ToolPath::parse("/memories/shared/42/").unwrap();
        assert_eq!((root.store(), root.memory()), (Some("42"), None));
        assert_eq!(root.to_string(), "/memories/shared/42");
    }

    #[test]
    fn a_path_is_an_entry_too() {
        let all = |path: &str| {
            let path = ToolPath::parse(path).unwrap();
            let shown = |paths: Vec<MemoryPath>| {
                paths.iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>()
            };
            (shown(path.exact()), shown(path.plain()))
        };
        let strings =
            |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(all("/memories"), (strings(&[]), strings(&[])));
        assert_eq!(all("/memories/a"), (strings(&["/a"]), strings(&[])));
        let (exact, plain) = all("/memories/shared/x/a/b.md");
        assert_eq!(exact, strings(&["/a/b.md", "/a%2Fb.md"]));
        assert_eq!(plain, strings(&["/a%2Fb", "/a/b"]));
        // What looks escaped may be an entry's own path, or a key of just these letters.
        assert_eq!(all("/memories/a%2Fb").0, strings(&["/a%2Fb", "/a%252Fb"]));
    }

    #[test]
    fn what_no_store_could_keep_is_refused_in_words() {
        assert!(refusal("/memories/e\u{301}").starts_with("Invalid path: "));
        assert!(refusal(&format!("/memories{}", "/a".repeat(21))).starts_with("Invalid path: "));
        assert!(refusal(&format!("/memories/{}", "x".repeat(1030))).contains("1024"));
        assert!(refusal(&format!("/memories/{}", "x".repeat(9000))).contains("1024"));
    }
}
