//! The secret part of an API key: 256 random bits, a prefix that scanners can grep for, and a
//! checksum that tells a mistyped key from a wrong one. Only its SHA-256 is ever stored, and it
//! never shows in `Debug`.

use crate::seam::Seams;
use sha2::{Digest, Sha256};
use std::fmt;

const PREFIX: &str = "loci_";
const HINT_CHARS: usize = 9;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A key's secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new random secret.
    pub fn generate(seams: &Seams) -> Self {
        let mut random = [0u8; 32];
        seams.fill(&mut random);
        let body = base62(&random);
        Self(format!("{PREFIX}{body}{}", checksum(&body)))
    }

    /// A secret chosen by somebody else, such as the operator's environment.
    pub fn given(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// SHA-256 of the secret: what is stored and looked up.
    pub fn hash(&self) -> [u8; 32] {
        Self::hash_of(&self.0)
    }

    /// SHA-256 of a presented secret.
    pub fn hash_of(presented: &str) -> [u8; 32] {
        Sha256::digest(presented.as_bytes()).into()
    }

    /// The first characters, to recognise a key by in a list. Too few to help a guesser; none at
    /// all of a secret somebody chose, which may be short.
    pub fn hint(&self) -> String {
        match self.0.starts_with(PREFIX) && self.0.len() > 40 {
            true => self.0.chars().take(HINT_CHARS).collect(),
            false => String::new(),
        }
    }

    /// Whether a text looks like one of ours but has a typing error in it.
    pub fn is_mistyped(presented: &str) -> bool {
        let Some(rest) = presented.strip_prefix(PREFIX) else {
            return false;
        };
        let Some(at) = rest.len().checked_sub(CHECKSUM_CHARS) else {
            return true;
        };
        rest.is_char_boundary(at) && checksum(&rest[..at]) != rest[at..]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

const CHECKSUM_CHARS: usize = 6;

fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest[..CHECKSUM_CHARS]
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte % 62)]))
        .collect()
}

/// Base 62 by repeated division, 43 digits for 256 bits.
fn base62(bytes: &[u8; 32]) -> String {
    let mut number = *bytes;
    let mut digits = [b'0'; 43];
    for slot in digits.iter_mut().rev() {
        let mut remainder = 0u32;
        for byte in &mut number {
            let value = remainder << 8 | u32::from(*byte);
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        *slot = ALPHABET[remainder as usize];
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_secrets_carry_prefix_and_checksum() {
        let secret = Secret::generate(&Seams::real());
        assert_eq!(secret.reveal().len(), 5 + 43 + 6);
        assert!(!Secret::is_mistyped(secret.reveal()));
        let mut typo = secret.reveal().to_owned();
        let last = typo.pop().unwrap();
        typo.push(if last == 'x' { 'y' } else { 'x' });
        assert!(Secret::is_mistyped(&typo));
        assert_ne!(secret, Secret::generate(&Seams::real()));
    }

    #[test]
    fn nothing_leaks_through_debug_or_hint() {
        let secret = Secret::given("hunter2");
        assert_eq!(format!("{secret:?}"), "[secret]");
        assert_eq!(secret.hint(), "");
        assert!(!Secret::is_mistyped("hunter2"), "foreign keys have no checksum to fail");
    }
}
