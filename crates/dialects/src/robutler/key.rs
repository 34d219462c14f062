//! Keys as paths, and back. A key is free text, a path is not: a key becomes one segment in which
//! whatever a path cannot hold is percent-escaped, below `/:NAMESPACE/` if it has a namespace.
//!
//! Escaping is exact: no two keys share a path, and every path that this door writes gives back its
//! key. What another door wrote at a path of several segments is the key of the same words, and so
//! is a segment that looks escaped but is not what this door would have written.
//!
//! A key that is too long for that, escaped, is kept under its digest, and in the metadata of its
//! memory, from which it is read back.

use loci_model::{Content, Invalid, Memory, MemoryPath, Patch};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::iter;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc, is_nfc_quick};

/// What begins the directory of a namespace.
const NAMESPACE: char = ':';

/// What begins a digest in the place of a key. No escaped text has it.
const DIGEST: &str = "%#";
/// Hexadecimal digits of a digest.
const DIGEST_CHARS: usize = 64;
/// Characters of a key that always fits.
const KEY_CHARS_MAX: usize = 200;
/// The member of a memory's metadata that is this door's.
const MEMBER: &str = "robutler";

/// What an entry is called within a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Empty for most.
    pub(crate) namespace: String,
    pub(crate) key: String,
}

impl Name {
    /// The name of a memory.
    pub(crate) fn of(path: &MemoryPath) -> Self {
        let text = path.as_str().strip_prefix('/').unwrap_or_default();
        let spaced = text.strip_prefix(NAMESPACE).and_then(|rest| rest.split_once('/'));
        if let Some((namespace, key)) = spaced.filter(|(namespace, _)| !namespace.is_empty()) {
            return Self { namespace: unescaped(namespace), key: key_in(key) };
        }
        Self { namespace: String::new(), key: key_in(text) }
    }

    /// The name of a memory, which it may have to tell itself.
    pub(crate) fn of_memory(memory: &Memory) -> Self {
        let by_path = Self::of(&memory.path);
        if !is_digest(&by_path.key) {
            return by_path;
        }
        let members = members(memory.attributes.metadata.as_deref());
        let key = members.get(MEMBER).and_then(|own| own.get("key")).and_then(Value::as_str);
        let told = key.map(|key| Self { key: key.to_owned(), ..by_path.clone() });
        // Anybody may have written there what they like.
        told.filter(|told| told.path().is_ok_and(|path| path == memory.path)).unwrap_or(by_path)
    }

    /// The metadata that a memory needs under this name, beside what it had.
    pub(crate) fn told(&self, before: Option<&Memory>) -> Patch<Option<String>> {
        let path = self.path().ok();
        if !path.is_some_and(|path| is_digest(&Self::of(&path).key)) {
            return Patch::Keep;
        }
        let mut all = members(before.and_then(|before| before.attributes.metadata.as_deref()));
        all.insert(MEMBER.to_owned(), json!({ "key": self.key }));
        Patch::Set(Some(Value::Object(all).to_string()))
    }

    /// The path at which this door writes the entry.
    pub(crate) fn path(&self) -> Result<MemoryPath, Invalid> {
        if self.key.is_empty() {
            return Err(Invalid::new("key", "must not be empty"));
        }
        let directory = match self.namespace.as_str() {
            "" => "/".to_owned(),
            namespace => format!("/{NAMESPACE}{}/", escaped(namespace)),
        };
        let path = MemoryPath::parse(&format!("{directory}{}", escaped(&self.key)));
        let path = path.or_else(|invalid| match self.key.chars().count() <= KEY_CHARS_MAX {
            true => {
                let digest = Content::Text(self.key.clone()).digest();
                MemoryPath::parse(&format!("{directory}{DIGEST}{digest}"))
            }
            false => Err(invalid),
        });
        path.map_err(|invalid| Invalid::new("key", invalid.why))
    }

    /// Every path at which the entry may be: where this door writes it, and where another door may
    /// have written it.
    pub(crate) fn paths(&self) -> Result<Vec<MemoryPath>, Invalid> {
        let mut paths = vec![self.path()?];
        let directories = match self.namespace.as_str() {
            "" => vec!["/".to_owned()],
            namespace => [escaped(namespace), namespace.to_owned()]
                .map(|segment| format!("/{NAMESPACE}{segment}/"))
                .to_vec(),
        };
        for directory in directories {
            for key in [escaped(&self.key), self.key.clone()] {
                let path = MemoryPath::parse(&format!("{directory}{key}"));
                let path = path.ok().filter(|path| !is_digest(&key) && Self::of(path) == *self);
                paths.extend(path.filter(|path| !paths.contains(path)));
            }
        }
        Ok(paths)
    }
}

/// Whether a segment stands for a key that is too long.
fn is_digest(segment: &str) -> bool {
    let digest = segment.strip_prefix(DIGEST);
    digest.is_some_and(|hex| {
        hex.len() == DIGEST_CHARS && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn members(metadata: Option<&str>) -> Map<String, Value> {
    metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The key that the rest of a path stands for.
fn key_in(text: &str) -> String {
    if text.contains('/') { text.to_owned() } else { unescaped(text) }
}

/// What was escaped to a segment; the segment itself, if nothing was.
fn unescaped(segment: &str) -> String {
    match percent_decode_str(segment).decode_utf8() {
        Ok(text) if escaped(&text) == segment => text.into_owned(),
        _ => segment.to_owned(),
    }
}

/// A text as one segment of a path.
fn escaped(text: &str) -> String {
    if matches!(text, "." | "..") {
        return text.replace('.', "%2E");
    }
    let is_plain = |c: char| c != '/' && c != '%' && fits(c);
    let escape = |must: &dyn Fn(usize, char) -> bool| {
        let mut segment = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            let is_mark = at == 0 && c == NAMESPACE;
            if is_plain(c) && !is_mark && !must(at, c) {
                segment.push(c);
                continue;
            }
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                write!(segment, "%{byte:02X}").expect("a String takes everything");
            }
        }
        segment
    };
    let segment = escape(&|_, _| false);
    if is_nfc(&segment) {
        return segment;
    }
    // Without what may join with its neighbours, a text is in normal form whatever is beside what.
    escape(&|_, c| {
        let is_inert = is_nfc_quick(iter::once(c)) == IsNormalized::Yes;
        !is_inert || canonical_combining_class(c) != 0
    })
}

/// Whether a path may hold a character at all.
fn fits(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // After something that joins with nothing, so that only the character itself is judged.
    MemoryPath::parse(&format!("/_{c}")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(namespace: &str, key: &str) -> Name {
        Name { namespace: namespace.into(), key: key.into() }
    }

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    #[test]
    fn escapes() {
        for (key, expected) in [
            ("note", "/note"),
            ("two words", "/two words"),
            ("ключ", "/ключ"),
            ("a/b", "/a%2Fb"),
            ("/", "/%2F"),
            ("100%", "/100%25"),
            ("a%2Fb", "/a%252Fb"),
            (".", "/%2E"),
            ("..", "/%2E%2E"),
            ("...", "/..."),
            (".hidden", "/.hidden"),
            ("../x", "/..%2Fx"),
            (":owner", "/%3Aowner"),
            ("a:b", "/a:b"),
            ("tab\tend\n", "/tab%09end%0A"),
            ("\0", "/%00"),
            ("zero\u{200b}width", "/zero%E2%80%8Bwidth"),
            ("line\u{2028}", "/line%E2%80%A8"),
            ("e\u{301}", "/e%CC%81"),
            ("\u{212b}", "/%E2%84%AB"),
            ("é", "/é"),
        ] {
            assert_eq!(name("", key).path().unwrap().as_str(), expected, "{key:?}");
            assert_eq!(Name::of(&path(expected)), name("", key));
        }
        assert_eq!(name("fn:x/y", "a/b").path().unwrap().as_str(), "/:fn:x%2Fy/a%2Fb");
        assert_eq!(name("..", ":k").path().unwrap().as_str(), "/:%2E%2E/%3Ak");
    }

    #[test]
    fn other_doors_paths_are_keys_too() {
        for (native, key) in [
            ("/a/b", "a/b"),
            ("/a%2Fb/c", "a%2Fb/c"),
            ("/100%", "100%"),
            ("/50%41", "50%41"),
            ("/%zz", "%zz"),
            ("/%ff", "%ff"),
            ("/%2f", "%2f"),
            ("/%2e", "%2e"),
        ] {
            assert_eq!(Name::of(&path(native)), name("", key), "{native}");
            let paths = name("", key).paths().unwrap();
            assert_eq!(paths[1..], [path(native)], "{native}");
        }
        assert_eq!(Name::of(&path("/:ns/a/b")), name("ns", "a/b"));
        assert_eq!(name("ns", "a/b").paths().unwrap(), [path("/:ns/a%2Fb"), path("/:ns/a/b")]);
        // Paths that are another key's are not this one's.
        assert_eq!(name("", "a%2Fb").paths().unwrap(), [path("/a%252Fb")]);
        assert_eq!(name("", ":a/b").paths().unwrap(), [path("/%3Aa%2Fb")]);
        assert_eq!(name("", "a//b").paths().unwrap(), [path("/a%2F%2Fb")]);
        assert_eq!(name("x%41", "k").paths().unwrap()[1..], [path("/:x%41/k")]);
        // A namespace has a name, and something in it.
        assert_eq!(Name::of(&path("/:/k")), name("", ":/k"));
        assert_eq!(Name::of(&path("/:alone")), name("", ":alone"));
        assert_eq!(name("", ":alone").paths().unwrap()[1..], [path("/:alone")]);
    }

    #[test]
    fn limits_name_the_key() {
        let long = name("", &"k".repeat(5000)).path().unwrap_err();
        assert_eq!(long.field, "key");
        assert!(name("", "").path().is_err());
        assert!(name("", &"🦀".repeat(200)).path().is_ok());
        for long in ["\u{1}", "\u{200b}", "/", "\u{e000}", "e\u{301}"] {
            let key: String = long.chars().cycle().take(200).collect();
            for namespace in ["", "fn:x"] {
                let name = name(namespace, &key);
                let path = name.path().unwrap();
                assert_eq!(name.paths().unwrap(), std::slice::from_ref(&path), "{long:?}");
                assert!(Name::of(&path) == name || name.told(None) != Patch::Keep, "{long:?}");
            }
            let long = key.repeat(26);
            assert!(name("", &long).path().is_err());
        }
        // What only looks like a digest is somebody's key, and not under that path.
        let digest = format!("{DIGEST}{}", "0".repeat(DIGEST_CHARS));
        assert_eq!(name("", &digest).paths().unwrap().len(), 1);
        assert_eq!(name("", "short").told(None), Patch::Keep);
    }

    proptest! {
        #[test]
        fn every_key_comes_back(
            namespace in "\\PC{0,6}|[:./%a]{0,4}",
            key in proptest::collection::vec(any::<char>(), 1..20),
        ) {
            let name = name(&namespace, &key.into_iter().collect::<String>());
            let path = name.path().unwrap();
            prop_assert_eq!(Name::of(&path), name.clone());
            for path in name.paths().unwrap() {
                prop_assert_eq!(Name::of(&path), name.clone());
            }
        }

        #[test]
        fn tricky_keys_come_back(key in "[a%/:.2FfEe\u{301}\u{200d}\u{1100}\u{1161}\u{11a8}é\u{212b}\u{0344}]{1,8}") {
            let name = name("", &key);
            let path = name.path().unwrap();
            prop_assert_eq!(path.as_str().matches('/').count(), 1);
            prop_assert_eq!(Name::of(&path), name);
        }

        #[test]
        fn every_path_is_found_by_its_key(text in "(/[a%2Ff:é][a%2Ff:.é]{0,4}){1,3}") {
            let path = MemoryPath::parse(&text).unwrap();
            let paths = Name::of(&path).paths().unwrap();
            prop_assert!(paths.contains(&path) , "{} is not among {:?}", path, paths);
        }
    }
}
