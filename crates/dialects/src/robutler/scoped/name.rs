//! Namespaces and keys, and the paths that entries have in a store. An entry is the memory at
//! `/<namespace>/<key>`; once forgotten, what is left of it lies at `/<namespace>/:forgotten/<key>`.
//!
//! Both lie below one directory, so that one listing of a namespace sees both at one moment. A
//! namespace is one segment from which it can be read back exactly, and no two share a segment.

use loci_model::{Content, Invalid, Memory, MemoryPath, PathPrefix, limit};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The directory of what was forgotten. No key begins with a colon.
const FORGOTTEN: &str = ":forgotten";
/// What a namespace of a caller begins with.
const CALLER: &str = "caller:";
/// Begins the digest of a namespace that is too long for a path; escaped where it is meant.
const DIGEST: char = '#';
/// What cannot stand in a segment, or would be taken for something else.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'/').add(b'%').add(b'#');
/// Characters that name a caller.
const CALLER_CHARS_MAX: usize = 300;
/// Characters of a key, all ASCII.
const KEY_CHARS_MAX: usize = 128;
/// Bytes of a segment, so that the longest key fits behind it, even forgotten.
const SEGMENT_BYTES_MAX: usize =
    limit::PATH_BYTES_MAX - "/".len() - "/:forgotten/".len() - KEY_CHARS_MAX;

/// Whose notes: the owner's, everybody's, or a caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Namespace {
    text: String,
    segment: String,
}

impl Namespace {
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let refuse = |why: String| Err(Invalid::new("namespace", why));
        let is_plain = matches!(text, "owner" | "shared");
        let caller = text.strip_prefix(CALLER).unwrap_or_default();
        let is_caller = (1..=CALLER_CHARS_MAX).contains(&caller.chars().count())
            && !caller.contains(|c: char| c.is_whitespace() || c == ',' || c == '\u{feff}');
        if !is_plain && !is_caller {
            let max = CALLER_CHARS_MAX;
            return refuse(format!(
                "expected owner, shared, or caller: and 1 to {max} characters without spaces and commas"
            ));
        }
        match segment(text) {
            Some(segment) => Ok(Self { text: text.to_owned(), segment }),
            None => refuse("is too long for its control characters".into()),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// What to put into a memory's scope, which takes no control characters.
    pub(super) fn label(&self) -> Option<String> {
        (!self.text.contains(char::is_control)).then(|| self.text.clone())
    }

    /// Where an entry is.
    pub(super) fn path(&self, key: &Key) -> MemoryPath {
        parsed(&format!("/{}/{}", self.segment, key.0))
    }

    /// Where an entry that was forgotten leaves its tombstone.
    pub(super) fn tombstone(&self, key: &Key) -> MemoryPath {
        parsed(&format!("/{}/{FORGOTTEN}/{}", self.segment, key.0))
    }

    /// The directory of its entries and tombstones.
    pub(super) fn directory(&self) -> PathPrefix {
        PathPrefix::parse(&format!("/{}/", self.segment)).expect("a segment was tried as a path")
    }

    /// The inverse of [`segment`]; a namespace that was too long is what the memory says it is.
    fn of(segment: &str, scope: Option<&str>) -> Option<Self> {
        let is_digest = segment.strip_prefix(CALLER).is_some_and(|rest| rest.starts_with(DIGEST));
        let namespace = match is_digest {
            true => Self::parse(scope?).ok()?,
            false => Self::parse(&percent_decode_str(segment).decode_utf8().ok()?).ok()?,
        };
        (namespace.segment == segment).then_some(namespace)
    }
}

fn parsed(path: &str) -> MemoryPath {
    MemoryPath::parse(path).expect("segments and keys are checked, and short enough together")
}

/// A namespace as one segment: as it is where it can be, escaped where it must be, and as its digest
/// where it would be too long. A digest is read back from the scope, so that must be able to hold it.
fn segment(namespace: &str) -> Option<String> {
    let mut lightly = String::with_capacity(namespace.len());
    for c in namespace.chars() {
        match c.is_ascii() {
            true => lightly.extend(utf8_percent_encode(c.encode_utf8(&mut [0; 4]), ESCAPED)),
            false => lightly.push(c),
        }
    }
    let fits = |segment: &String| {
        segment.len() <= SEGMENT_BYTES_MAX && MemoryPath::parse(&format!("/{segment}")).is_ok()
    };
    if fits(&lightly) {
        return Some(lightly);
    }
    // Also escapes everything beyond ASCII, whether paths take it or not.
    let fully = utf8_percent_encode(namespace, ESCAPED).to_string();
    if fits(&fully) {
        return Some(fully);
    }
    let is_label = !namespace.contains(char::is_control);
    let digest = Content::Text(namespace.to_owned()).digest();
    is_label.then(|| format!("{CALLER}{DIGEST}{digest}"))
}

/// What an entry is called in its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let is_further = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let is_key = text.len() <= KEY_CHARS_MAX
            && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && text.as_bytes().iter().all(is_further);
        if !is_key {
            let why = format!(
                "expected 1 to {KEY_CHARS_MAX} of A-Z a-z 0-9 . _ - with a letter or digit first"
            );
            return Err(Invalid::new("key", why));
        }
        Ok(Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a path is to this door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) namespace: Namespace,
    pub(super) key: Key,
    pub(super) is_tombstone: bool,
}

impl Place {
    /// The place of a memory; none for what other doors put where no entry can be.
    pub(super) fn of(memory: &Memory) -> Option<Self> {
        Self::at(memory.path.as_str(), memory.attributes.scope.as_deref())
    }

    /// The same by the path and the scope alone.
    pub(super) fn at(path: &str, scope: Option<&str>) -> Option<Self> {
        let mut segments = path.split('/').skip(1);
        let (namespace, second) = (segments.next()?, segments.next()?);
        let (key, is_tombstone) = match second {
            FORGOTTEN => (segments.next()?, true),
            key => (key, false),
        };
        if segments.next().is_some() {
            return None;
        }
        let (namespace, key) = (Namespace::of(namespace, scope)?, Key::parse(key).ok()?);
        Some(Self { namespace, key, is_tombstone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn grammar() {
        let long = format!("caller:{}", "x".repeat(300));
        for good in
            ["owner", "shared", "caller:x", "caller:user:7", "caller:a/b?c=%2F", "caller:..", &long]
        {
            assert_eq!(Namespace::parse(good).unwrap().as_str(), good);
        }
        let longer = format!("caller:{}", "x".repeat(301));
        for bad in [
            "",
            "Owner",
            "owner ",
            "wa:owner",
            "caller",
            "caller:",
            "caller:a b",
            "caller:a,b",
            "caller:a\n",
            "caller:\u{a0}",
            &longer,
        ] {
            assert!(Namespace::parse(bad).is_err(), "{bad:?}");
        }
        let long = "x".repeat(128);
        for good in ["a", "9", "A.b-c_d", "con..fig", &long] {
            assert_eq!(Key::parse(good).unwrap().as_str(), good);
        }
        let longer = "x".repeat(129);
        for bad in ["", ".a", "-a", "_a", "a/b", "a b", "k\n", "ä", ":forgotten", &longer] {
            assert!(Key::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn paths_can_be_read_by_people_where_they_can() {
        let path = |namespace: &str| {
            let namespace = Namespace::parse(namespace).unwrap();
            namespace.path(&Key::parse("k").unwrap()).to_string()
        };
        assert_eq!(path("owner"), "/owner/k");
        assert_eq!(path("caller:user:7"), "/caller:user:7/k");
        assert_eq!(path("caller:ж☃"), "/caller:ж☃/k");
        assert_eq!(
            path("caller:https://a.example/b%2F#c"),
            "/caller:https:%2F%2Fa.example%2Fb%252F%23c/k"
        );
        assert_eq!(path("caller:e\u{301}"), "/caller:e%CC%81/k", "not in normal form");
        assert_eq!(path("caller:\u{200b}"), "/caller:%E2%80%8B/k", "cannot be seen");
    }

    #[test]
    fn what_other_doors_put_elsewhere_is_no_entry() {
        for path in [
            "/owner",
            "/note.md",
            "/owner/a/b",
            "/owner/.hidden",
            "/somebody/a",
            "/caller:/a",
            "/caller:a%2fb/k",
            "/caller:%61/k",
            "/owner/:forgotten",
            "/owner/:forgotten/a/b",
            "/caller:#00/k",
        ] {
            assert_eq!(Place::at(path, Some("caller:x")), None, "{path}");
        }
    }

    proptest! {
        #[test]
        fn every_namespace_comes_back_from_its_paths(
            caller in prop_oneof![
                "[^\\s,\u{feff}]{1,300}",
                "[a-z./%#:~?&=]{1,300}",
                "[\u{4e00}-\u{9fff}]{250,300}",
                "[\u{1f600}-\u{1f64f}]{1,300}",
                "[e\u{300}-\u{310}\u{200b}]{1,40}",
                "[\u{1}-\u{1b}\u{80}-\u{84}a]{1,300}",
            ],
            key in "[A-Za-z0-9][A-Za-z0-9._-]{0,127}",
        ) {
            let text = format!("caller:{caller}");
            prop_assume!(!caller.contains(char::is_whitespace));
            let Ok(namespace) = Namespace::parse(&text) else {
                // Only what can neither be escaped in the room there is nor be a label.
                prop_assert!(text.contains(char::is_control) && text.len() * 3 > SEGMENT_BYTES_MAX);
                return Ok(());
            };
            let key = Key::parse(&key).unwrap();
            let scope = namespace.label();
            for (path, is_tombstone) in [(namespace.path(&key), false), (namespace.tombstone(&key), true)] {
                prop_assert!(path.as_str().starts_with(namespace.directory().as_str()));
                let place = Place::at(path.as_str(), scope.as_deref());
                let (namespace, key) = (namespace.clone(), key.clone());
                prop_assert_eq!(place, Some(Place { namespace, key, is_tombstone }));
            }
        }

        #[test]
        fn no_two_namespaces_share_a_segment(
            one in "[a%2F/#]{1,6}", other in "[a%2F/#]{1,6}",
        ) {
            prop_assume!(one != other);
            let segment = |caller: &str| Namespace::parse(&format!("caller:{caller}")).unwrap().segment;
            prop_assert_ne!(segment(&one), segment(&other));
        }
    }
}
