//! Who somebody is (a DID) and the Ed25519 keys they sign with.

use crate::cbor::Reader;
use crate::{MALFORMED, Refused, base58};
use ring::signature::{ED25519, UnparsedPublicKey};
use std::fmt;

/// Bytes of a DID.
const DID_BYTES_MAX: usize = 200;

const ED25519_CODE: u64 = 0xed;
const DID_CODE: u64 = 0x0d1d;

/// A decentralized identifier without a fragment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Did(String);

impl Did {
    /// Checks one: `did:method:name`, plain ASCII, up to 200 bytes.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        const BAD: Refused = Refused::unproven("a DID must be did:method:name, up to 200 bytes");
        let (method, name) =
            text.strip_prefix("did:").and_then(|rest| rest.split_once(':')).ok_or(BAD)?;
        let is_method = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_%:".contains(&byte);
        let is_good = text.len() <= DID_BYTES_MAX
            && !method.is_empty()
            && !name.is_empty()
            && method.bytes().all(is_method)
            && name.bytes().all(is_name);
        if is_good { Ok(Self(text.to_owned())) } else { Err(BAD) }
    }

    /// As links have it: a key, or the code of a DID and its text.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Refused> {
        let mut reader = Reader::new(bytes);
        match reader.varint()? {
            ED25519_CODE if reader.rest().len() == 32 => {
                Ok(Self(format!("did:key:z{}", base58::encode(bytes))))
            }
            DID_CODE => {
                let rest = std::str::from_utf8(reader.rest()).map_err(|_| MALFORMED)?;
                Self::parse(&format!("did:{rest}"))
            }
            _ => Err(Refused::unproven("the token names somebody by a key that is not Ed25519")),
        }
    }

    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What comes between the first two colons.
    pub fn method(&self) -> &str {
        self.0.split(':').nth(1).unwrap_or_default()
    }

    /// What comes after the second colon.
    pub fn name(&self) -> &str {
        self.0.splitn(3, ':').nth(2).unwrap_or_default()
    }

    /// The key that a `did:key` is; nothing for other methods and other sorts of keys.
    pub fn own_key(&self) -> Option<Key> {
        (self.method() == "key").then(|| Key::from_multibase(self.name()))?
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An Ed25519 public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// A key of 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// A key as multibase text: `z`, then base58 of the code of Ed25519 and the key.
    pub fn from_multibase(text: &str) -> Option<Self> {
        let encoded = text.strip_prefix('z').filter(|rest| rest.len() <= 64)?;
        let bytes = base58::decode(encoded)?;
        Self::from_bytes(bytes.strip_prefix(&[0xed, 0x01])?)
    }

    /// A key as plain base58.
    pub fn from_base58(text: &str) -> Option<Self> {
        Self::from_bytes(&base58::decode(Some(text).filter(|text| text.len() <= 64)?)?)
    }

    /// The DID that this key is.
    pub fn did(&self) -> Did {
        Did(format!("did:key:z{}", base58::encode(&[&[0xed, 0x01], self.0.as_slice()].concat())))
    }

    /// Whether this key signed it.
    pub(crate) fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(signed, signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_dids_lead_to_each_other() {
        let text = "did:key:z6Mks8fbHkqPNSKLFE1UtwmrLf2dS8HgAsr2WaYTKzkYExSt";
        let did = Did::parse(text).unwrap();
        assert_eq!(did.own_key().unwrap().did(), did);
        assert_eq!((did.method(), did.name()), ("key", &text[8..]));
        assert!(Did::parse("did:ixo:ixo1abc").unwrap().own_key().is_none());
        // A key of another curve.
        let secp = Did::parse("did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme").unwrap();
        assert!(secp.own_key().is_none());
    }

    #[test]
    fn what_is_no_did_is_refused() {
        let long = format!("did:x:{}", "a".repeat(200));
        for bad in [
            "",
            "did:",
            "did:key",
            "did:key:",
            "did::x",
            "DID:key:x",
            "did:K:x",
            "did:a:b c",
            "did:a:b#c",
            "did:a:é",
            "did:a:b\n",
            &long,
        ] {
            assert!(Did::parse(bad).is_err(), "{bad:?}");
        }
        assert!(Did::parse("did:web:127.0.0.1%3A8988").is_ok());
    }
}
