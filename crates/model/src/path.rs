//! Where a memory is: `/seg/seg`, NFC, case-sensitive, never `.` or `..`, so that every store can
//! be shown as a directory tree. Paths are refused, not repaired: what is stored is what was sent.

use crate::{Invalid, limit};
use std::fmt;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// A valid memory path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryPath(String);

impl MemoryPath {
    /// Checks every rule; the only way to a path.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refuse = |why: String| Err(Invalid::new("path", why));
        if text.len() > limit::PATH_BYTES_MAX {
            return refuse(format!("is {} bytes, limit {}", text.len(), limit::PATH_BYTES_MAX));
        }
        let Some(rest) = text.strip_prefix('/') else {
            return refuse("must start with /".into());
        };
        check_characters("path", text)?;
        let mut segments = 0;
        for segment in rest.split('/') {
            segments += 1;
            if segment.is_empty() || segment == "." || segment == ".." {
                return refuse("must not contain empty, . or .. segments".into());
            }
        }
        if segments > limit::PATH_SEGMENTS_MAX {
            return refuse(format!("has {segments} segments, limit {}", limit::PATH_SEGMENTS_MAX));
        }
        Ok(Self(text.to_owned()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every proper ancestor, shortest first: `/a/b/c` has `/a` and `/a/b`.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').skip(1).map(|(at, _)| &self.0[..at])
    }

    /// The nearest ancestor, which a path of one segment does not have.
    pub fn parent(&self) -> Option<&str> {
        self.0.rfind('/').filter(|at| *at > 0).map(|at| &self.0[..at])
    }

    /// The half-open range of texts that lie below this path.
    pub fn descendants(&self) -> (String, String) {
        // '0' is the character after '/', so the range covers exactly what starts with "path/".
        (format!("{}/", self.0), format!("{}0", self.0))
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A directory to list below: starts and ends with `/`, matches whole segments, literally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPrefix(String);

impl PathPrefix {
    /// Checks a prefix; `/` is the whole store.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refuse = |why: &str| Err(Invalid::new("path_prefix", why));
        if text.len() > limit::PATH_BYTES_MAX + 1 {
            return refuse("is too long");
        }
        if !text.starts_with('/') || !text.ends_with('/') {
            return refuse("must start and end with /");
        }
        check_characters("path_prefix", text)?;
        if text != "/" {
            let inner = &text[1..text.len() - 1];
            if inner.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
                return refuse("must not contain empty, . or .. segments");
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The whole store.
    pub fn root() -> Self {
        Self("/".into())
    }

    /// The prefix as text, with its trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The half-open range of path texts below this prefix.
    pub fn range(&self) -> (String, String) {
        (self.0.clone(), format!("{}0", &self.0[..self.0.len() - 1]))
    }

    /// The part of `path` that a listing folded at `depth` levels shows as a directory, with its
    /// trailing slash; `None` when the path itself is shown.
    pub fn fold<'p>(&self, path: &'p str, depth: usize) -> Option<&'p str> {
        let below = path.strip_prefix(self.as_str())?;
        let (slash, _) = below.match_indices('/').nth(depth.checked_sub(1)?)?;
        Some(&path[..self.0.len() + slash + 1])
    }
}

/// Refuses what cannot be seen in a text: control and format characters, and separators of lines.
pub fn check_visible(field: &'static str, text: &str) -> Result<(), Invalid> {
    let is_forbidden = |c: char| {
        matches!(
            get_general_category(c),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        )
    };
    if text.chars().any(is_forbidden) {
        return Err(Invalid::new(field, "must not contain control or format characters"));
    }
    Ok(())
}

fn check_characters(field: &'static str, text: &str) -> Result<(), Invalid> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Ok(());
    }
    check_visible(field, text)?;
    let is_nfc = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => true,
        IsNormalized::No => false,
        IsNormalized::Maybe => unicode_normalization::is_nfc(text),
    };
    if !is_nfc {
        return Err(Invalid::new(field, "must be in Unicode normalization form NFC"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_paths() {
        let deep = "/a".repeat(20);
        let long = format!("/{}", "x".repeat(1023));
        for path in ["/a", "/a/b.md", "/ä/日本語", "/ spaces ok ", "/%2e%2e", "/a\\b", &deep, &long]
        {
            assert_eq!(MemoryPath::parse(path).unwrap().as_str(), path);
        }
    }

    #[test]
    fn bad_paths() {
        let deep = "/a".repeat(21);
        let long = format!("/{}", "x".repeat(1024));
        for path in [
            "",
            "/",
            "a",
            "a/b",
            "/a/",
            "//a",
            "/a//b",
            "/.",
            "/..",
            "/a/../b",
            "/a\nb",
            "/a\u{0}",
            "/a\u{200b}b",
            "/a\u{2028}b",
            "/a\u{2029}",
            "/e\u{301}",
            "/a\u{ad}b",
            &deep,
            &long,
        ] {
            assert!(MemoryPath::parse(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn ancestors_and_descendants() {
        let path = MemoryPath::parse("/a/b/c").unwrap();
        assert_eq!(path.ancestors().collect::<Vec<_>>(), ["/a", "/a/b"]);
        assert_eq!(path.parent(), Some("/a/b"));
        assert_eq!(MemoryPath::parse("/a").unwrap().parent(), None);
        let (low, high) = path.descendants();
        assert!(low.as_str() <= "/a/b/c/d" && "/a/b/c/\u{10ffff}" < high.as_str());
        assert!("/a/b/c.d" < low.as_str() && "/a/b/cd" > high.as_str());
    }

    #[test]
    fn prefixes_fold_by_whole_segments() {
        let root = PathPrefix::root();
        assert_eq!(root.fold("/a/b/c", 1), Some("/a/"));
        assert_eq!(root.fold("/a/b/c", 2), Some("/a/b/"));
        assert_eq!(root.fold("/a", 1), None);
        let notes = PathPrefix::parse("/notes/").unwrap();
        assert_eq!(notes.fold("/notes/x/y", 1), Some("/notes/x/"));
        assert_eq!(notes.fold("/notes/x", 1), None);
        for bad in ["", "notes/", "/notes", "//", "/a//", "/../"] {
            assert!(PathPrefix::parse(bad).is_err(), "{bad:?}");
        }
    }
}
