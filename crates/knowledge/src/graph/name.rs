//! When two texts mean the same thing by a name, and the ids that follow from it. Ids are derived,
//! not drawn: the same memories give the same facts the same ids, on every server and after every
//! restart.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// Words that do not tell one name from another at its beginning.
const LEADING: [&str; 8] = ["a", "an", "the", "my", "our", "his", "her", "their"];

/// What names are compared by: lower case, single spaces, no article, no marks around it.
pub fn key(name: &str) -> String {
    let mut words = name.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).peekable();
    let mut key = String::with_capacity(name.len());
    while let Some(word) = words.next() {
        let is_article = key.is_empty() && words.peek().is_some() && LEADING.contains(&&*word);
        if is_article {
            continue;
        }
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(&word);
    }
    key
}

fn trimmed(word: &str) -> String {
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '%' | '$' | '€');
    word.trim_matches(is_mark).replace('’', "'").to_lowercase()
}

/// The words of a text as numbers, for counting how many two texts share. Plurals and singulars
/// are one word.
pub fn words(text: &str) -> impl Iterator<Item = u64> + '_ {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| word.chars().count() > 2).map(|word| {
        let word = word.to_lowercase();
        let stem = word.strip_suffix("ies").or_else(|| word.strip_suffix('s')).unwrap_or(&word);
        stem.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

macro_rules! derived_id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The id of whatever these parts say, within one store.
            pub(crate) fn of(store: u128, parts: &[&[u8]]) -> Self {
                Self(digest(stringify!($name), store, parts))
            }

            /// Reads an id in the usual form of a UUID.
            pub fn parse(text: &str) -> Option<Self> {
                let is_uuid = text.len() == 36
                    && text.bytes().enumerate().all(|(at, byte)| match at {
                        8 | 13 | 18 | 23 => byte == b'-',
                        _ => byte.is_ascii_hexdigit(),
                    });
                let digits: String = text.chars().filter(|c| *c != '-').collect();
                is_uuid.then(|| u128::from_str_radix(&digits, 16).ok().map(Self))?
            }
        }

        impl std::str::FromStr for $name {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                Self::parse(text).ok_or(())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let hex = format!("{:032x}", self.0);
                let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
                f.write_str(&parts.join("-"))
            }
        }
    };
}

derived_id! {
    /// One fact of one store.
    FactId
}
derived_id! {
    /// One entity of one store.
    EntityId
}
derived_id! {
    /// One community of one store.
    CommunityId
}

/// A UUID of version 8, the one whose content is one's own affair.
fn digest(what: &str, store: u128, parts: &[&[u8]]) -> u128 {
    let mut hash = Sha256::new();
    hash.update(what.as_bytes());
    hash.update(store.to_be_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let whole = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&whole[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    u128::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_whatever_stands_around_them() {
        for (a, b) in [
            ("The New York Times", "new york times"),
            ("my  dog", "Dog."),
            ("“Dune”", "dune"),
            ("C++", "c++"),
            ("Ana’s brother", "ana's brother"),
        ] {
            assert_eq!(key(a), key(b), "{a} and {b}");
        }
        assert_ne!(key("C"), key("C++"));
        assert_eq!(key("the"), "the", "a name that is only an article is that article");
    }

    #[test]
    fn ids_read_as_they_are_written() {
        let id = FactId::of(7, &[b"a", b"b"]);
        assert_eq!(FactId::parse(&id.to_string()), Some(id));
        assert_eq!(id.to_string().as_bytes()[14], b'8');
        assert_ne!(id, FactId::of(7, &[b"ab", b""]), "parts do not run into each other");
        assert_ne!(id, FactId::of(8, &[b"a", b"b"]), "stores have their own");
        for bad in
            ["", "x", "00000000-0000-0000-0000-00000000000g", "00000000000000000000000000000000"]
        {
            assert_eq!(FactId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn words_are_counted_without_their_plural() {
        let all = |text| words(text).collect::<Vec<_>>();
        assert_eq!(all("Board games"), all("board game"));
        assert_eq!(all("at a to"), all(""), "short words tell nothing");
    }
}
