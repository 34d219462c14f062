//! One link of a chain: who lets whom do what until when, and the signature under it.
//!
//! What is signed is put together from what was read, so a link says exactly what its signature
//! covers and nothing beside it counts.

use crate::cbor::{self, Cid, Value};
use crate::did::{Did, Key};
use crate::{LIST_MAX, MALFORMED, Refused, json};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;

const EDDSA_CODE: u64 = 0xd0ed;
const VERSION: &str = "0.9.1";

/// What may be done to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Capability {
    pub(crate) can: String,
    pub(crate) with: String,
}

/// A link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) issuer: Did,
    pub(crate) audience: Did,
    pub(crate) capabilities: Vec<Capability>,
    /// Seconds since 1970; nothing is never.
    pub(crate) expires_at: Option<i128>,
    pub(crate) begins_at: Option<i128>,
    pub(crate) proofs: Vec<Cid>,
    signed: String,
    signature: [u8; 64],
}

impl Link {
    pub(crate) fn read(block: &[u8]) -> Result<Self, Refused> {
        let Value::Map(fields) = cbor::decode(block)? else { return Err(MALFORMED) };
        if fields.get("v") != Some(&Value::Text(VERSION.to_owned())) {
            return Err(Refused::unproven("the token is not of UCAN version 0.9.1"));
        }
        let (issuer, audience) = (principal(&fields, "iss")?, principal(&fields, "aud")?);
        let proofs = list(&fields, "prf")?.iter().map(|one| match one {
            Value::Link(cid) => Ok(cid.clone()),
            _ => Err(MALFORMED),
        });
        let proofs = proofs.collect::<Result<Vec<_>, _>>()?;
        let capabilities = list(&fields, "att")?.iter().map(capability);
        let link = Self {
            capabilities: capabilities.collect::<Result<_, _>>()?,
            expires_at: moment(&fields, "exp")?,
            begins_at: moment(&fields, "nbf")?,
            signed: signed(&fields, &issuer, &audience, &proofs),
            signature: signature(&fields)?,
            issuer,
            audience,
            proofs,
        };
        Ok(link)
    }

    /// Whether now lies within it. At the end it is over.
    pub(crate) fn check_time(&self, now: i128) -> Result<(), Refused> {
        if self.expires_at.is_some_and(|end| end <= now) {
            return Err(Refused::unproven("the token or a proof of it has expired"));
        }
        if self.begins_at.is_some_and(|begin| begin >= now) {
            return Err(Refused::unproven("the token or a proof of it is not valid yet"));
        }
        Ok(())
    }

    pub(crate) fn is_signed_by(&self, keys: &[Key]) -> bool {
        keys.iter().any(|key| key.verifies(self.signed.as_bytes(), &self.signature))
    }
}

fn principal(fields: &BTreeMap<String, Value>, name: &str) -> Result<Did, Refused> {
    match fields.get(name) {
        Some(Value::Bytes(bytes)) => Did::from_bytes(bytes),
        _ => Err(MALFORMED),
    }
}

fn list<'f>(fields: &'f BTreeMap<String, Value>, name: &str) -> Result<&'f [Value], Refused> {
    match fields.get(name) {
        None if name == "prf" => Ok(&[]),
        Some(Value::List(list)) if list.len() <= LIST_MAX => Ok(list),
        _ => Err(MALFORMED),
    }
}

fn moment(fields: &BTreeMap<String, Value>, name: &str) -> Result<Option<i128>, Refused> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Integer(seconds)) => Ok(Some(*seconds)),
        Some(_) => Err(MALFORMED),
    }
}

fn capability(value: &Value) -> Result<Capability, Refused> {
    let Value::Map(fields) = value else { return Err(MALFORMED) };
    match (fields.get("can"), fields.get("with")) {
        // Abilities have no case; resources have.
        (Some(Value::Text(can)), Some(Value::Text(with))) => {
            Ok(Capability { can: can.to_ascii_lowercase(), with: with.clone() })
        }
        _ => Err(MALFORMED),
    }
}

fn signature(fields: &BTreeMap<String, Value>) -> Result<[u8; 64], Refused> {
    let Some(Value::Bytes(bytes)) = fields.get("s") else { return Err(MALFORMED) };
    let mut reader = cbor::Reader::new(bytes);
    if reader.varint()? != EDDSA_CODE || reader.varint()? != 64 {
        return Err(Refused::unproven("the token is signed in another way than EdDSA"));
    }
    reader.rest().try_into().map_err(|_| MALFORMED)
}

/// The bytes under the signature: a header and a payload as of a JWT.
fn signed(
    fields: &BTreeMap<String, Value>,
    issuer: &Did,
    audience: &Did,
    proofs: &[Cid],
) -> String {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut payload = BTreeMap::from([
        ("iss".to_owned(), text(issuer.as_str())),
        ("aud".to_owned(), text(audience.as_str())),
        ("exp".to_owned(), fields.get("exp").cloned().unwrap_or(Value::Null)),
    ]);
    let proofs = proofs.iter().map(|cid| Value::Text(json::cid_text(cid)));
    payload.insert("prf".to_owned(), Value::List(proofs.collect()));
    for name in ["att", "fct", "nbf", "nnc"] {
        let said = match fields.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::List(list)) if name == "fct" && list.is_empty() => continue,
            Some(Value::Integer(0)) if name == "nbf" => continue,
            Some(said) => said,
        };
        payload.insert(name.to_owned(), said.clone());
    }
    let header = format!("{{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"ucv\":\"{VERSION}\"}}");
    let mut body = String::new();
    json::write(&Value::Map(payload), &mut body);
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(body))
}
