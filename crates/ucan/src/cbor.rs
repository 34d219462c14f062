//! The part of CBOR that linked data uses (DAG-CBOR), read strictly: definite lengths, shortest
//! numbers, text keys that stand once, links as tag 42. Whatever else there is, is refused.
//!
//! Depth and size are bounded, so bytes of strangers can neither exhaust the stack nor memory: no
//! length is believed before that many bytes are there.

use crate::{MALFORMED, Refused};
use std::collections::BTreeMap;

/// Values inside values.
const DEPTH_MAX: usize = 32;

/// A value. Maps are sorted by the bytes of their keys, which is how they are signed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// Within ±2^64.
    Integer(i128),
    Float(f64),
    Bytes(Vec<u8>),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
    Link(Cid),
}

/// The name of a block: version 1, by SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cid {
    pub(crate) codec: u64,
    pub(crate) digest: [u8; 32],
    /// As it came, for the text form.
    pub(crate) bytes: Vec<u8>,
}

/// Bytes that are read from the front.
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn rest(&self) -> &'b [u8] {
        self.0
    }

    pub(crate) fn take(&mut self, count: u64) -> Result<&'b [u8], Refused> {
        let count = usize::try_from(count).map_err(|_| MALFORMED)?;
        let (taken, rest) = self.0.split_at_checked(count).ok_or(MALFORMED)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Refused> {
        Ok(self.take(1)?[0])
    }

    /// A number as multiformats write it: seven bits a byte, the lowest first, no more bytes than
    /// it needs.
    pub(crate) fn varint(&mut self) -> Result<u64, Refused> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 { Err(MALFORMED) } else { Ok(number) };
            }
        }
        Err(MALFORMED)
    }

    /// The name of a block.
    pub(crate) fn cid(&mut self) -> Result<Cid, Refused> {
        let before = self.0;
        if self.varint()? != 1 {
            return Err(MALFORMED);
        }
        let codec = self.varint()?;
        if self.varint()? != SHA2_256 || self.varint()? != 32 {
            return Err(MALFORMED);
        }
        let digest = self.take(32)?.try_into().map_err(|_| MALFORMED)?;
        let bytes = before[..before.len() - self.0.len()].to_vec();
        Ok(Cid { codec, digest, bytes })
    }

    fn value(&mut self, depth: usize) -> Result<Value, Refused> {
        if depth > DEPTH_MAX {
            return Err(MALFORMED);
        }
        let first = self.byte()?;
        let (major, minor) = (first >> 5, first & 0x1f);
        if major == 7 {
            return match minor {
                20 => Ok(Value::Bool(false)),
                21 => Ok(Value::Bool(true)),
                22 => Ok(Value::Null),
                27 => {
                    let bits = self.take(8)?.try_into().map_err(|_| MALFORMED)?;
                    let float = f64::from_be_bytes(bits);
                    if float.is_finite() { Ok(Value::Float(float)) } else { Err(MALFORMED) }
                }
                _ => Err(MALFORMED),
            };
        }
        let number = self.argument(minor)?;
        match major {
            0 => Ok(Value::Integer(i128::from(number))),
            1 => Ok(Value::Integer(-1 - i128::from(number))),
            2 => Ok(Value::Bytes(self.take(number)?.to_vec())),
            3 => self.text(number).map(Value::Text),
            4 => {
                // Grows with what is read, not with what is claimed.
                let mut list = Vec::new();
                for _ in 0..number {
                    list.push(self.value(depth + 1)?);
                }
                Ok(Value::List(list))
            }
            5 => {
                let mut map = BTreeMap::new();
                for _ in 0..number {
                    let Value::Text(key) = self.value(depth + 1)? else { return Err(MALFORMED) };
                    if map.insert(key, self.value(depth + 1)?).is_some() {
                        return Err(MALFORMED);
                    }
                }
                Ok(Value::Map(map))
            }
            6 if number == LINK_TAG => {
                let Value::Bytes(bytes) = self.value(depth + 1)? else { return Err(MALFORMED) };
                let mut inner = Reader(bytes.strip_prefix(&[0]).ok_or(MALFORMED)?);
                let cid = inner.cid()?;
                if inner.is_empty() { Ok(Value::Link(cid)) } else { Err(MALFORMED) }
            }
            _ => Err(MALFORMED),
        }
    }

    fn argument(&mut self, minor: u8) -> Result<u64, Refused> {
        let (width, least) = match minor {
            0..24 => return Ok(u64::from(minor)),
            24 => (1, 24),
            25 => (2, 1 << 8),
            26 => (4, 1 << 16),
            27 => (8, 1 << 32),
            _ => return Err(MALFORMED),
        };
        let bytes = self.take(width)?;
        let number = bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
        if number < least { Err(MALFORMED) } else { Ok(number) }
    }

    fn text(&mut self, count: u64) -> Result<String, Refused> {
        let text = std::str::from_utf8(self.take(count)?).map_err(|_| MALFORMED)?;
        Ok(text.to_owned())
    }
}

const SHA2_256: u64 = 0x12;
const LINK_TAG: u64 = 42;

/// One value and nothing behind it.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, Refused> {
    let mut reader = Reader(bytes);
    let value = reader.value(0)?;
    if reader.is_empty() { Ok(value) } else { Err(MALFORMED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_read() {
        let map = Value::Map(BTreeMap::from([("a".into(), Value::List(vec![Value::Null]))]));
        for (bytes, expected) in [
            (&b"\x17"[..], Value::Integer(23)),
            (b"\x18\x18", Value::Integer(24)),
            (b"\x20", Value::Integer(-1)),
            (b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", Value::Integer(i128::from(u64::MAX))),
            (b"\xf5", Value::Bool(true)),
            (b"\x62\xc3\xa9", Value::Text("é".into())),
            (b"\x42\x00\x01", Value::Bytes(vec![0, 1])),
            (b"\xfb\x3f\xf8\x00\x00\x00\x00\x00\x00", Value::Float(1.5)),
            (b"\xa1\x61a\x81\xf6", map),
        ] {
            assert_eq!(decode(bytes).unwrap(), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn what_is_not_strict_is_refused() {
        let deep = [0x81; 100];
        for bad in [
            &b""[..],
            b"\x18\x17",
            b"\x19\x00\xff",
            b"\x9f\xff",
            b"\xf9\x3c\x00",
            b"\xf7",
            b"\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00",
            b"\xa1\x01\x02",
            b"\xa2\x61a\x01\x61a\x02",
            b"\x62\xff\xfe",
            b"\xc1\x01",
            b"\xd8\x2a\x41\x00",
            b"\x01\x01",
            b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
            &deep,
        ] {
            assert!(decode(bad).is_err(), "{bad:x?}");
        }
    }

    #[test]
    fn varints_are_as_short_as_can_be() {
        let read = |bytes: &[u8]| Reader::new(bytes).varint();
        assert_eq!(read(&[0xed, 0x01]).unwrap(), 0xed);
        assert_eq!(read(&[0]).unwrap(), 0);
        assert!(read(&[0x80, 0]).is_err() && read(&[0x80]).is_err() && read(&[0xff; 12]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }
    }
}
