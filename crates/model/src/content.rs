//! What a memory holds: UTF-8 text, or bytes sealed by a client that we must not look into.

use crate::Invalid;
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
    fn debug_never_shows_content() {
        assert_eq!(format!("{:?}", Content::Text("secret".into())), "Text(6 bytes)");
    }
}
