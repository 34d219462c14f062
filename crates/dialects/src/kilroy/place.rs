//! Where `memory_id` leads: a relative path as Kilroy means it, and a store as Loci does. An id that
//! breaks a rule is refused, not repaired, and no id is ever a path of any file system.

use super::error::{Outcome, says};
use loci_engine::Place;
use loci_model::{Address, Content, Invalid, PrincipalId, StorePolicy, limit};

/// Characters of one segment.
pub(super) const SEGMENT_CHARS_MAX: usize = 128;
const SEGMENTS_MAX: usize = 64;
/// Bytes of an id that stand in an address as they are; of a longer one stands its digest.
const PLAIN_BYTES_MAX: usize = 400;

/// A valid `memory_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryId<'t>(&'t str);

impl<'t> MemoryId<'t> {
    /// Checks every rule.
    pub(super) fn parse(text: &'t str) -> Outcome<Self> {
        if text.starts_with('/') {
            return says("memory_id must be a relative path");
        }
        if text.contains("${") {
            return says("memory_id has a ${…} that nothing is known to stand for");
        }
        for (count, segment) in text.split('/').enumerate() {
            if count == SEGMENTS_MAX {
                return says(format!("memory_id takes up to {SEGMENTS_MAX} segments"));
            }
            if matches!(segment, "" | "." | "..") {
                return says("memory_id must not have empty, . or .. segments");
            }
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            if !segment.chars().all(is_plain) {
                return says("memory_id takes letters, digits, . _ - and / only");
            }
            if segment.len() > SEGMENT_CHARS_MAX {
                return says(format!(
                    "memory_id takes segments of up to {SEGMENT_CHARS_MAX} characters"
                ));
            }
        }
        Ok(Self(text))
    }

    pub(super) fn as_str(self) -> &'t str {
        self.0
    }

    /// The store it names to a caller.
    pub(super) fn place(self, caller: PrincipalId) -> Result<Place, Invalid> {
        let name = match self.0.len() {
            0..=PLAIN_BYTES_MAX => self.0.to_owned(),
            // No id has a #.
            _ => format!("#{}", Content::Text(self.0.to_owned()).digest()),
        };
        Ok(Place {
            shared: Address::parse(&format!("kilroy:{name}"))?,
            own: Address::parse(&format!("kilroy:{caller}:{name}"))?,
            name: format!("kilroy {}", self.0),
            policy: StorePolicy {
                content_bytes_max: limit::CONTENT_BYTES_MAX as u64,
                ..StorePolicy::default()
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_relative_paths() {
        let deep = vec!["a"; 64].join("/");
        let long = "x".repeat(128);
        let longest = vec![long.as_str(); 64].join("/");
        for good in [
            "memories",
            "instances/a3d8f1b2/memories",
            "apps/example/project_memory",
            "a.b-c_D/...",
            &deep,
            &long,
            &longest,
        ] {
            assert_eq!(MemoryId::parse(good).unwrap().as_str(), good);
        }
        let (deep, long) = (vec!["a"; 65].join("/"), "x".repeat(129));
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "./a",
            "a\\b",
            "C:",
            "C:/x",
            "a b",
            "a\u{0}b",
            "a\nb",
            "ä",
            "a%2fb",
            "${pipeline_uid}/m",
            "a:b",
            &deep,
            &long,
        ] {
            assert!(MemoryId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_id_has_addresses_of_its_own() {
        let (one, two) = (PrincipalId::from_u128(1), PrincipalId::from_u128(2));
        let place = |id, caller| MemoryId::parse(id).unwrap().place(caller).unwrap();
        assert_eq!(place("a/b", one).shared.as_str(), "kilroy:a/b");
        assert_eq!(place("a/b", one).shared, place("a/b", two).shared);
        assert_ne!(place("a/b", one).own, place("a/b", two).own);
        let longest = vec!["x".repeat(128); 64].join("/");
        let other = format!("{}y", &longest[..longest.len() - 1]);
        assert_ne!(place(&longest, one).shared, place(&other, one).shared);
        assert_ne!(place(&longest, one).own, place(&other, one).own);
    }
}
