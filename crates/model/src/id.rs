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
const TEN_DIGITS: u128 = 62u128.pow(10);

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
                f.write_str($prefix)?;
                write_digits(self.0, f)
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
                write_digits(self.0, f)
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

fn write_digits(mut bits: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut digits = [b'0'; DIGITS];
    // Dividing 128 bits is slow, so ten digits at a time are split off into 64.
    for ten in digits.rchunks_mut(10) {
        let mut low = (bits % TEN_DIGITS) as u64;
        bits /= TEN_DIGITS;
        for slot in ten.iter_mut().rev() {
            *slot = ALPHABET[(low % 62) as usize];
            low /= 62;
        }
    }
    f.write_str(GENERATION)?;
    f.write_str(std::str::from_utf8(&digits).expect("the alphabet is ASCII"))
}

fn parse_digits(text: &str) -> Option<u128> {
    let digits = text.strip_prefix(GENERATION)?.as_bytes();
    if digits.len() != DIGITS {
        return None;
    }
    digits.iter().try_fold(0u128, |bits, byte| {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            b'a'..=b'z' => byte - b'a' + 36,
            _ => return None,
        };
        bits.checked_mul(62)?.checked_add(u128::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_sorts_like_the_bits() {
        let samples = [0, 1, 61, 62, u128::MAX / 3, u128::MAX];
        let texts: Vec<String> =
            samples.iter().map(|bits| MemoryId::from_u128(*bits).to_string()).collect();
        for (bits, text) in samples.iter().zip(&texts) {
            assert_eq!(text.len(), "mem_".len() + 24);
            assert_eq!(text.parse::<MemoryId>().unwrap().as_u128(), *bits);
        }
        assert!(texts.is_sorted());
    }

    #[test]
    fn foreign_and_damaged_ids_are_refused() {
        let good = MemoryId::from_u128(7).to_string();
        for bad in ["", "mem_", "mem_7", &good[..good.len() - 1], &format!("{good}0")] {
            assert!(bad.parse::<MemoryId>().is_err(), "{bad}");
        }
        assert!(good.parse::<StoreId>().is_err());
        assert!("mem_01zzzzzzzzzzzzzzzzzzzzzz".parse::<MemoryId>().is_err(), "over 128 bits");
    }

    #[test]
    fn later_milliseconds_sort_later() {
        assert!(uuid_v7_bits(2, 0) > uuid_v7_bits(1, u128::MAX));
        assert_eq!((uuid_v7_bits(1, u128::MAX) >> 76) & 0xf, 7);
    }
}
