//! Tokens as clients of the QiForge door make them: chains of signed links in an archive.
//!
//! Shares nothing with the crate that verifies them; what both take for a token is checked against
//! recorded ones of the original library.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Somebody with a key, and the name they sign under.
pub struct Signer {
    pair: Ed25519KeyPair,
    pub did: String,
}

impl Signer {
    /// Somebody whose DID is their key.
    pub fn new(source: u64) -> Self {
        let mut one = Self::named("", source);
        one.did = one.key();
        one
    }

    /// Somebody with a DID of another method.
    pub fn named(did: &str, source: u64) -> Self {
        let source: [u8; 32] = Sha256::digest(source.to_be_bytes()).into();
        let pair = Ed25519KeyPair::from_seed_unchecked(&source).expect("any bytes are a key");
        Self { pair, did: did.to_owned() }
    }

    /// Their key, as a DID.
    pub fn key(&self) -> String {
        let bytes = [&[0xed, 0x01], self.pair.public_key().as_ref()].concat();
        format!("did:key:z{}", base58(&bytes))
    }

    fn principal(&self) -> Vec<u8> {
        principal(&self.did, self.pair.public_key().as_ref())
    }
}

/// A link, and all blocks it stands on.
#[derive(Clone)]
pub struct Link {
    pub cid: Vec<u8>,
    blocks: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A link before it is signed.
pub struct Draft<'a> {
    pub from: &'a Signer,
    /// Who signs it; the issuer unless something is to be forged.
    pub signer: &'a Signer,
    pub to: &'a str,
    pub can: Vec<(&'a str, &'a str)>,
    pub expires: Option<i64>,
    pub begins: Option<i64>,
    pub facts: Vec<Value>,
    pub proofs: Vec<Link>,
}

impl<'a> Draft<'a> {
    /// The usual link: everything about memory, without an end.
    pub fn new(from: &'a Signer, to: &'a str) -> Self {
        let can = vec![("memory/*", "ixo:memory")];
        let (expires, begins) = (None, None);
        Self { from, signer: from, to, can, expires, begins, facts: vec![], proofs: vec![] }
    }

    pub fn by(self, proofs: &[&Link]) -> Self {
        Self { proofs: proofs.iter().map(|one| (*one).clone()).collect(), ..self }
    }

    pub fn until(self, expires: i64) -> Self {
        Self { expires: Some(expires), ..self }
    }

    pub fn sign(&self) -> Link {
        let audience = audience(self.to);
        let att: Vec<Value> =
            self.can.iter().map(|(can, with)| json!({"can": can, "with": with})).collect();
        let proofs: Vec<Value> =
            self.proofs.iter().map(|one| json!(format!("b{}", base32(&one.cid)))).collect();
        // Written in the order in which keys are signed.
        let mut payload = format!(
            "{{\"att\":{},\"aud\":{},\"exp\":{}",
            Value::Array(att.clone()),
            json!(self.to),
            json!(self.expires)
        );
        if !self.facts.is_empty() {
            payload += &format!(",\"fct\":{}", Value::Array(self.facts.clone()));
        }
        payload += &format!(",\"iss\":{}", json!(self.from.did));
        if let Some(begins) = self.begins {
            payload += &format!(",\"nbf\":{begins}");
        }
        payload += &format!(",\"prf\":{}}}", Value::Array(proofs));
        let header = r#"{"alg":"EdDSA","typ":"JWT","ucv":"0.9.1"}"#;
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
        let signature = self.signer.pair.sign(signed.as_bytes());
        let mut fields: Vec<(&str, Vec<u8>)> = vec![
            ("s", bytes(&[&[0xed, 0xa1, 0x03, 0x40], signature.as_ref()].concat())),
            ("v", text("0.9.1")),
            ("iss", bytes(&self.from.principal())),
            ("aud", bytes(&audience)),
            ("att", value(&Value::Array(att))),
            ("exp", value(&json!(self.expires))),
            ("prf", list(self.proofs.iter().map(|one| link(&one.cid)))),
        ];
        if !self.facts.is_empty() {
            fields.push(("fct", value(&Value::Array(self.facts.clone()))));
        }
        if let Some(begins) = self.begins {
            fields.push(("nbf", value(&json!(begins))));
        }
        let block = map(fields);
        let cid = cid(&block);
        let mut blocks: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for one in self.proofs.iter().flat_map(|proof| &proof.blocks) {
            if !blocks.contains(one) {
                blocks.push(one.clone());
            }
        }
        blocks.push((cid.clone(), block));
        Link { cid, blocks }
    }

    /// The link as an invocation, ready for the header.
    pub fn token(&self) -> String {
        self.sign().token()
    }
}

impl Link {
    /// The archive whose invocation this is.
    pub fn token(&self) -> String {
        let variant = map(vec![("ucan@0.9.1", link(&self.cid))]);
        let root = cid(&variant);
        let header = map(vec![("roots", list([link(&root)].into_iter())), ("version", vec![1])]);
        let mut car = varint(header.len());
        car.extend(header);
        for (cid, block) in self.blocks.iter().chain([&(root, variant)]) {
            car.extend(varint(cid.len() + block.len()));
            car.extend(cid);
            car.extend(block);
        }
        STANDARD.encode(car)
    }
}

/// What a runtime sends: the user lets the oracle, and the oracle asks the server.
pub fn delegated(user: &Signer, oracle: &Signer, server: &str, expires: i64) -> String {
    let grant = Draft::new(user, &oracle.did).until(expires).sign();
    Draft::new(oracle, server).until(expires).by(&[&grant]).token()
}

/// What the user sends in person.
pub fn in_person(user: &Signer, server: &str, expires: i64) -> String {
    Draft::new(user, server).until(expires).token()
}

fn audience(did: &str) -> Vec<u8> {
    match did.strip_prefix("did:key:z") {
        Some(encoded) => unbase58(encoded),
        None => principal(did, &[]),
    }
}

fn principal(did: &str, key: &[u8]) -> Vec<u8> {
    match did.strip_prefix("did:key:") {
        Some(_) => [&[0xed, 0x01], key].concat(),
        None => [&[0x9d, 0x1a], did.strip_prefix("did:").expect("a DID").as_bytes()].concat(),
    }
}

fn varint(mut number: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

fn head(major: u8, number: u64) -> Vec<u8> {
    let major = major << 5;
    match number {
        0..24 => vec![major | number as u8],
        24..0x100 => vec![major | 24, number as u8],
        0x100..0x1_0000 => [&[major | 25][..], &(number as u16).to_be_bytes()].concat(),
        0x1_0000..0x1_0000_0000 => [&[major | 26][..], &(number as u32).to_be_bytes()].concat(),
        _ => [&[major | 27][..], &number.to_be_bytes()].concat(),
    }
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    [head(2, bytes.len() as u64), bytes.to_vec()].concat()
}

fn text(text: &str) -> Vec<u8> {
    [head(3, text.len() as u64), text.as_bytes().to_vec()].concat()
}

fn list(items: impl ExactSizeIterator<Item = Vec<u8>>) -> Vec<u8> {
    [vec![head(4, items.len() as u64)], items.collect()].concat().concat()
}

fn map(mut fields: Vec<(&str, Vec<u8>)>) -> Vec<u8> {
    fields.sort_by_key(|(name, _)| (name.len(), name.to_string()));
    let mut out = head(5, fields.len() as u64);
    for (name, value) in fields {
        out.extend(text(name));
        out.extend(value);
    }
    out
}

fn link(cid: &[u8]) -> Vec<u8> {
    [vec![0xd8, 0x2a], bytes(&[&[0], cid].concat())].concat()
}

fn value(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => vec![0xf6],
        Value::Bool(is) => vec![if *is { 0xf5 } else { 0xf4 }],
        Value::Number(number) => match number.as_i64().expect("whole numbers only") {
            number @ 0.. => head(0, number as u64),
            number => head(1, (-1 - number) as u64),
        },
        Value::String(one) => text(one),
        Value::Array(items) => list(items.iter().map(self::value)),
        Value::Object(fields) => {
            map(fields.iter().map(|(name, one)| (name.as_str(), self::value(one))).collect())
        }
    }
}

fn cid(block: &[u8]) -> Vec<u8> {
    [&[0x01, 0x71, 0x12, 0x20][..], &Sha256::digest(block)].concat()
}

fn base32(bytes: &[u8]) -> String {
    let bits: Vec<u8> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let letter = |five: &[u8]| {
        let number = (0..5).fold(0, |sum, at| sum * 2 + five.get(at).copied().unwrap_or(0));
        char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from(number)])
    };
    bits.chunks(5).map(letter).collect()
}

const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

fn base58(bytes: &[u8]) -> String {
    let mut digits: Vec<usize> = vec![];
    for byte in bytes {
        let mut carry = usize::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    digits.iter().rev().map(|digit| char::from(BASE58.as_bytes()[*digit])).collect()
}

fn unbase58(text: &str) -> Vec<u8> {
    let mut out: Vec<usize> = vec![];
    for letter in text.chars() {
        let mut carry = BASE58.find(letter).expect("a letter of the alphabet");
        for byte in &mut out {
            carry += *byte * 58;
            *byte = carry & 0xff;
            carry >>= 8;
        }
        while carry > 0 {
            out.push(carry & 0xff);
            carry >>= 8;
        }
    }
    out.iter().rev().map(|byte| *byte as u8).collect()
}
