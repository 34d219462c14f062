//! Keys as paths. A key is free text, a path is not, so a key becomes one segment in which whatever
//! a path cannot hold is escaped; escaping is undone exactly. What other doors wrote at a path of
//! several segments is found under the same words as a key.

use loci_model::{Invalid, MemoryPath};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// What cannot stand in a segment, or would be taken for an escape.
const IN_SEGMENT: &AsciiSet = &CONTROLS.add(b'/').add(b'%');
/// What begins the directory of a namespace.
const NAMESPACE: char = ':';

/// The path an entry of the default namespace has.
pub(super) fn path_of(key: &str) -> Result<MemoryPath, Invalid> {
    let segment = match key {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        key => match key.strip_prefix(NAMESPACE) {
            Some(rest) => format!("%3A{}", utf8_percent_encode(rest, IN_SEGMENT)),
            None => utf8_percent_encode(key, IN_SEGMENT).to_string(),
        },
    };
    MemoryPath::parse(&format!("/{segment}"))
}

/// The key of a memory; none when it is in a namespace of its own.
pub(super) fn key_of(path: &MemoryPath) -> Option<String> {
    let text = path.as_str().strip_prefix('/').unwrap_or_default();
    if text.starts_with(NAMESPACE) {
        return None;
    }
    if text.contains('/') {
        return Some(text.to_owned());
    }
    percent_decode_str(text).decode_utf8().ok().map(|key| key.into_owned())
}

/// Every path at which an entry may be: its own, and where another door would have written it.
pub(super) fn paths_of(key: &str) -> Result<Vec<MemoryPath>, Invalid> {
    let own = path_of(key)?;
    let elsewhere = MemoryPath::parse(&format!("/{key}")).ok();
    let elsewhere = elsewhere.filter(|path| *path != own && key_of(path).as_deref() == Some(key));
    Ok([Some(own), elsewhere].into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_being_paths() {
        let long = "k".repeat(200);
        for key in [
            "a",
            "a/b",
            "a b",
            "ключ",
            "日本語",
            "..",
            ".",
            "%2F",
            "100%",
            "a%b/c",
            ":x",
            "a:b",
            "line\nbreak",
            "../../etc/passwd",
            "a\\b",
            "/",
            "//",
            "a/",
            &long,
        ] {
            let path = path_of(key).unwrap();
            assert_eq!(path.as_str().matches('/').count(), 1, "{key:?}");
            assert_eq!(key_of(&path).as_deref(), Some(key));
            assert_eq!(paths_of(key).unwrap()[0], path);
        }
    }

    #[test]
    fn other_doors_paths_are_keys_too() {
        let path = |text: &str| MemoryPath::parse(text).unwrap();
        assert_eq!(key_of(&path("/a/b")).as_deref(), Some("a/b"));
        assert_eq!(key_of(&path("/:ns/b")), None);
        assert_eq!(paths_of("a/b").unwrap(), [path("/a%2Fb"), path("/a/b")]);
        assert_eq!(paths_of("100%").unwrap(), [path("/100%25"), path("/100%")]);
        assert_eq!(paths_of("a%2Fb").unwrap(), [path("/a%252Fb")], "that is the path of a/b");
        assert_eq!(paths_of(":a/b").unwrap(), [path("/%3Aa%2Fb")], "that is a namespace");
    }
}
