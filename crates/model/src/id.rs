//! Typed ids: 128 bits, shown as a prefix, `01` and 22 base-62 digits.
//!
//! The bits are a UUID version 7, so ids sort by creation and the text sorts as the bits do (the
//! alphabet is in ASCII order). A door that wants UUIDs renders the same bits as one.

use crate::Invalid;
use std::fmt;
use std::str::FromStr;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: usize = 22;
const GENERATION: &str = "01";
/// As many digits as fit into 64 bits, whose arithmetic is several times as fast as that of 128.
const CHUNK_DIGITS: usize = 10;
const CHUNK: u128 = 62u128.pow(CHUNK_DIGITS as u32);
/// Room for a prefix, the generation and the digits.
const TEXT_BYTES_MAX: usize = 40;

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// The text before the digits.
            pub const PREFIX: &'static str = $prefix;

            /// An id from its bits.
            pub const fn from_u128(bits: u128) -> Self {
                Self(bits)
            }

            /// The bits, for doors that show UUIDs.
            pub const fn as_u128(self) -> u128 {
                self.0
            }

            /// Big-endian bytes: they sort as the id sorts.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// The inverse of [`Self::to_bytes`].
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(u128::from_be_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_id($prefix, self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                text.strip_prefix($prefix).and_then(parse_digits).map(Self).ok_or_else(|| {
                    Invalid::new("id", concat!("expected an id that starts with ", $prefix))
                })
            }
        }
    };
}

id_type!(/// A workspace: the tenant; nothing crosses it.
    WorkspaceId, "ws_");
id_type!(/// A principal: someone who can be authorized.
    PrincipalId, "prn_");
id_type!(/// A store.
    StoreId, "memstore_");
id_type!(/// A memory; survives rename and edit.
    MemoryId, "mem_");
id_type!(/// One immutable version of a memory.
    VersionId, "memver_");
id_type!(/// A grant.
    GrantId, "grt_");
id_type!(/// A session.
    SessionId, "sesn_");
id_type!(/// An API key; names the key, never the secret.
    KeyId, "apikey_");
id_type!(/// One request, as shown in answers and logs.
    RequestId, "req_");

impl PrincipalId {
    /// The same principal under another prefix, for doors that call users and services by their own
    /// id kinds.
    pub fn with_prefix(self, prefix: &str) -> String {
        struct Digits(u128);
        impl fmt::Display for Digits {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_id("", self.0, f)
            }
        }
        format!("{prefix}{}", Digits(self.0))
    }

    /// The inverse of [`Self::with_prefix`].
    pub fn parse_with_prefix(prefix: &str, text: &str) -> Option<Self> {
        text.strip_prefix(prefix).and_then(parse_digits).map(Self)
    }
}

/// Puts 48 bits of milliseconds and 74 random bits into the layout of a UUID version 7.
pub fn uuid_v7_bits(unix_ms: u64, random: u128) -> u128 {
    let time = (u128::from(unix_ms) & 0xffff_ffff_ffff) << 80;
    let version = 0x7u128 << 76;
    let rand_a = (random >> 62) & 0xfff;
    let variant = 0b10u128 << 62;
    let rand_b = random & ((1 << 62) - 1);
    time | version | (rand_a << 64) | variant | rand_b
}

/// Writes the whole text in one piece: ids are shown in every answer, and each piece has its price.
fn write_id(prefix: &'static str, bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0u8; TEXT_BYTES_MAX];
    let start = prefix.len() + GENERATION.len();
    text[..prefix.len()].copy_from_slice(prefix.as_bytes());
    text[prefix.len()..start].copy_from_slice(GENERATION.as_bytes());
    let mut rest = bits;
    for chunk in text[start..start + DIGITS].rchunks_mut(CHUNK_DIGITS) {
        let mut low = (rest % CHUNK) as u64;
        rest /= CHUNK;
        for slot in chunk.iter_mut().rev() {
            *slot = ALPHABET[(low % 62) as usize];
            low /= 62;
        }
    }
    f.write_str(std::str::from_utf8(&text[..start + DIGITS]).expect("the alphabet is ASCII"))
}

fn parse_digits(text: &str) -> Option<u128> {
    let digits = text.strip_prefix(GENERATION)?.as_bytes();
    if digits.len() != DIGITS {
        return None;
    }
    let (rest, low) = digits.split_at(DIGITS - CHUNK_DIGITS);
    let (top, middle) = rest.split_at(DIGITS - 2 * CHUNK_DIGITS);
    // Only the topmost digits can say more than 128 bits hold.
    let top = u128::from(parse_chunk(top)?).checked_mul(CHUNK * CHUNK)?;
    let below = u128::from(parse_chunk(middle)?) * CHUNK + u128::from(parse_chunk(low)?);
    top.checked_add(below)
}

/// At most [`CHUNK_DIGITS`] digits, so that nothing overflows.
fn parse_chunk(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |bits, byte| {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return None,
        };
        Some(bits * 62 + u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_sorts_like_the_bits() {
        let chunk = CHUNK;
        let samples = [
            0,
            1,
            61,
            62,
            chunk - 1,
            chunk,
            chunk * chunk - 1,
            chunk * chunk,
            u128::MAX / 3,
            u128::MAX,
        ];
        let texts: Vec<String> =
            samples.iter().map(|bits| MemoryId::from_u128(*bits).to_string()).collect();
        for (bits, text) in samples.iter().zip(&texts) {
            assert_eq!(text.len(), "mem_".len() + 24);
            assert_eq!(text.parse::<MemoryId>().unwrap().as_u128(), *bits);
        }
        assert!(texts.is_sorted());
    }

    #[test]
    fn the_text_is_plain_base_62() {
        let mut bits = 1u128;
        for _ in 0..200 {
            bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).wrapping_add(1);
            let (mut rest, mut digits) = (bits, Vec::new());
            for _ in 0..DIGITS {
                digits.insert(0, ALPHABET[(rest % 62) as usize]);
                rest /= 62;
            }
            let expected = format!("memstore_01{}", String::from_utf8(digits).unwrap());
            let id = StoreId::from_u128(bits);
            assert_eq!(id.to_string(), expected);
            assert_eq!(expected.parse::<StoreId>().unwrap(), id);
            assert_eq!(PrincipalId::from_u128(bits).with_prefix("user_")[5..], expected[9..]);
        }
    }

    #[test]
    fn foreign_and_damaged_ids_are_refused() {
        let good = MemoryId::from_u128(7).to_string();
        for bad in ["", "mem_", "mem_7", &good[..good.len() - 1], &format!("{good}0")] {
            assert!(bad.parse::<MemoryId>().is_err(), "{bad}");
        }
        assert!(good.parse::<StoreId>().is_err());
        assert!("mem_01zzzzzzzzzzzzzzzzzzzzzz".parse::<MemoryId>().is_err(), "over 128 bits");
        let largest = MemoryId::from_u128(u128::MAX).to_string();
        let last = largest.chars().last().unwrap();
        let beyond = format!("{}{}", &largest[..largest.len() - 1], char::from(last as u8 + 1));
        assert!(beyond.parse::<MemoryId>().is_err(), "over by one: {largest}");
        for byte in ["é", "/", ":", "@", "[", "`", "{"] {
            let bad = format!("mem_01{}{byte}", &"0".repeat(DIGITS)[byte.len()..]);
            assert!(bad.parse::<MemoryId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn later_milliseconds_sort_later() {
        assert!(uuid_v7_bits(2, 0) > uuid_v7_bits(1, u128::MAX));
        assert_eq!((uuid_v7_bits(1, u128::MAX) >> 76) & 0xf, 7);
    }
}
