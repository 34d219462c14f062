//! What a memory holds: UTF-8 text, or bytes sealed by a client that we must not look into; and its
//! digest, which is always of exactly the stored bytes, in however many pieces they were hashed.

use crate::Invalid;
use sha2::digest::common::hazmat::SerializableState;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// The content of one version.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// Text: indexed, searchable, editable in place.
    Text(String),
    /// Opaque bytes: kept and given back, never indexed, appended to or briefed.
    Sealed(Vec<u8>),
}

impl Content {
    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Sealed(bytes) => bytes,
        }
    }

    /// SHA-256 of the stored bytes, without any normalisation.
    pub fn digest(&self) -> Digest {
        Digest(Sha256::digest(self.bytes()).into())
    }

    /// The digest of the first so many bytes, if there are so many, and that of all: by one pass.
    pub fn digests(&self, first: u64) -> (Option<Digest>, Digest) {
        let bytes = self.bytes();
        let cut = usize::try_from(first).ok().filter(|cut| *cut <= bytes.len());
        let mut hash = Hash::default();
        let (begun, rest) = bytes.split_at(cut.unwrap_or(0));
        hash.add(begun);
        let begun = cut.map(|_| hash.digest());
        hash.add(rest);
        (begun, hash.digest())
    }

    /// The text, unless sealed.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Sealed(_) => None,
        }
    }

    /// Whether the content is sealed.
    pub fn is_sealed(&self) -> bool {
        matches!(self, Self::Sealed(_))
    }
}

/// Content never reaches a log through `Debug`.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_sealed() { "Sealed" } else { "Text" };
        write!(f, "{kind}({} bytes)", self.bytes().len())
    }
}

/// SHA-256 in the making. It can be put aside and gone on with later, so that who adds to a long
/// content hashes only what was added.
#[derive(Clone, Default)]
pub struct Hash(Sha256);

impl Hash {
    /// Goes on.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything so far.
    pub fn digest(&self) -> Digest {
        Digest(self.0.clone().finalize().into())
    }

    /// The hash to be put aside. Holds up to 63 bytes of the end of what was hashed as they are: it
    /// has to go wherever the content itself has to go.
    pub fn save(&self) -> Vec<u8> {
        self.0.serialize().to_vec()
    }

    /// A hash that was put aside after content of this size and digest; none if it is anything else,
    /// so that a damaged one cannot spoil what is written next.
    pub fn resume(saved: &[u8], size_bytes: u64, digest: Digest) -> Option<Self> {
        // Behind the eight words of the state: how many blocks were hashed. A wrong number would not
        // only lead to another digest but be too large to count with.
        let blocks = saved.get(32..40)?;
        if blocks != (size_bytes / 64).to_le_bytes() {
            return None;
        }
        let hash = Self(Sha256::deserialize(saved.try_into().ok()?).ok()?);
        (hash.digest() == digest).then_some(hash)
    }
}

/// Holds bytes of content, which never reach a log.
impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash")
    }
}

/// SHA-256 of stored bytes, shown as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// A digest from its bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).expect("hex digits are ASCII"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("content_sha256", "expected 64 lower-case hex digits");
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(invalid()),
        };
        let text = text.as_bytes();
        if text.len() != 64 {
            return Err(invalid());
        }
        let mut bytes = [0u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_sha256_in_lower_hex() {
        let digest = Content::Text(String::new()).digest();
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse::<Digest>().unwrap(), digest);
        assert!(text.to_uppercase().parse::<Digest>().is_err());
        assert!(text[1..].parse::<Digest>().is_err());
    }

    #[test]
    fn a_hash_goes_on_where_it_was_put_aside() {
        let text = "0123456789".repeat(40);
        for cut in [0, 1, 63, 64, 65, 128, 399, 400] {
            let mut hash = Hash::default();
            hash.add(&text.as_bytes()[..cut]);
            let (before, saved) = (hash.digest(), hash.save());
            let mut resumed = Hash::resume(&saved, cut as u64, before).unwrap();
            resumed.add(&text.as_bytes()[cut..]);
            assert_eq!(resumed.digest(), Content::Text(text.clone()).digest(), "{cut}");
        }
    }

    #[test]
    fn a_damaged_hash_is_not_gone_on_with() {
        let mut hash = Hash::default();
        hash.add(b"some text");
        let saved = hash.save();
        let other = Content::Text("other".into()).digest();
        assert!(Hash::resume(&saved, 9, hash.digest()).is_some());
        assert!(Hash::resume(&saved, 9, other).is_none());
        assert!(Hash::resume(&saved, 64, hash.digest()).is_none());
        assert!(Hash::resume(&saved[1..], 9, hash.digest()).is_none());
        assert!(Hash::resume(&[0xff; 104], u64::MAX, hash.digest()).is_none());
        assert!(Hash::resume(&[], 0, hash.digest()).is_none());
        for place in 0..saved.len() {
            let mut damaged = saved.clone();
            damaged[place] ^= 1;
            // What lies behind the last byte that was hashed means nothing.
            if let Some(resumed) = Hash::resume(&damaged, 9, hash.digest()) {
                assert_eq!(resumed.save(), saved);
            }
        }
    }

    #[test]
    fn the_digest_of_the_beginning_comes_with_the_other() {
        let content = Content::Text("abcdef".into());
        let begun = Content::Text("abc".into()).digest();
        assert_eq!(content.digests(3), (Some(begun), content.digest()));
        assert_eq!(content.digests(6), (Some(content.digest()), content.digest()));
        assert_eq!(content.digests(7), (None, content.digest()));
        assert_eq!(content.digests(u64::MAX), (None, content.digest()));
    }

    #[test]
    fn debug_never_shows_content() {
        assert_eq!(format!("{:?}", Content::Text("secret".into())), "Text(6 bytes)");
    }
}
