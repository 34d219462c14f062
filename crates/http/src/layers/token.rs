//! Signed tokens (JWT) of an issuer that the operator trusts: HS256 with a shared secret, RS256 with
//! the issuer's public keys.
//!
//! What a token may be signed with is decided by what is configured, not by the token: the secret
//! verifies HS256 and nothing else, a public key RS256 and nothing else. Nothing of a token is
//! believed, shown or logged before its signature has been verified.

mod issuer;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use issuer::IssuerKeys;
use loci_engine::Error;
use loci_model::{Timestamp, limit};
use ring::hmac;
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;

/// Bytes of a token.
const TOKEN_BYTES_MAX: usize = 8 * 1024;
/// How far the issuer's clock may be from ours.
const LEEWAY_SECS: i64 = 30;
/// A shared secret that is shorter can be guessed.
const SECRET_BYTES_MIN: usize = 32;
/// In how many seconds a token must end, and how many there may be from its making to its end, unless the
/// operator says otherwise.
const LIFETIME_SECS: u32 = 86_400;
/// The last second with a year of four digits.
const LAST_SECOND: i64 = 253_402_300_799;
/// Where a token says which agent it is for, if the operator does not say.
const AGENT_CLAIMS: [&str; 3] = ["agent_id", "agentId", "sub"];

const INVALID: Error = Error::Unauthenticated("invalid token");
const NAMES_NOBODY: Error = Error::Unauthenticated("the token names no agent");

/// Which tokens count.
#[derive(Default)]
pub struct TokenOptions {
    /// What HS256 tokens are signed with, at least 32 bytes.
    pub secret: Option<Vec<u8>>,
    /// The file with the public keys of RS256 tokens, as a JSON Web Key Set.
    pub jwks_file: Option<PathBuf>,
    /// What `iss` must be.
    pub issuer: Option<String>,
    /// What `aud` must be or hold.
    pub audience: Option<String>,
    /// The claim that names the agent.
    pub agent_claim: Option<String>,
    /// How many seconds a token may last; a day if nothing is said.
    pub lifetime_max: Option<u32>,
}

/// Verifies tokens.
pub struct Tokens {
    secret: Option<hmac::Key>,
    issuer_keys: Option<IssuerKeys>,
    issuer: Option<String>,
    audience: Option<String>,
    agent_claim: Option<String>,
    lifetime_max: i64,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tokens").finish_non_exhaustive()
    }
}

/// What a verified token says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The agent, by whatever name the issuer has for it.
    pub(super) agent: String,
    /// Until when, leeway included.
    pub(super) expires_at: Timestamp,
}

impl Tokens {
    /// Reads the keys; what is wrong with them is told without showing them.
    pub fn new(options: TokenOptions) -> Result<Self, String> {
        let secret = match options.secret {
            Some(secret) if secret.len() < SECRET_BYTES_MIN => {
                return Err(format!("the secret must have at least {SECRET_BYTES_MIN} bytes"));
            }
            Some(secret) => Some(hmac::Key::new(hmac::HMAC_SHA256, &secret)),
            None => None,
        };
        let issuer_keys = options.jwks_file.map(IssuerKeys::open).transpose()?;
        if secret.is_none() && issuer_keys.is_none() {
            return Err("needs a secret or a file of keys".to_owned());
        }
        Ok(Self {
            secret,
            issuer_keys,
            issuer: options.issuer,
            audience: options.audience,
            agent_claim: options.agent_claim,
            lifetime_max: options.lifetime_max.unwrap_or(LIFETIME_SECS).into(),
        })
    }

    /// Who a token is for, if it is one of the issuer's and of now.
    pub(super) async fn verify(&self, token: &str, now: Timestamp) -> Result<Named, Error> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Error::Unauthenticated("the token is longer than 8 KiB"));
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(INVALID)?;
        let (header, claims) = signed.split_once('.').ok_or(INVALID)?;
        let header = object(header).ok_or(INVALID)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| INVALID)?;
        self.verify_signature(&header, signed.as_bytes(), &signature).await?;
        let claims = object(claims).ok_or(INVALID)?;
        let expires_at = self.check_claims(&claims, now)?;
        Ok(Named { agent: self.agent(&claims)?.to_owned(), expires_at })
    }

    async fn verify_signature(
        &self,
        header: &Map<String, Value>,
        signed: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        // Whoever says that there is something critical means: refuse it if you do not know it.
        if header.contains_key("crit") {
            return Err(INVALID);
        }
        let is_genuine = match header.get("alg").and_then(Value::as_str) {
            Some("HS256") => {
                let secret = self.secret.as_ref().ok_or(INVALID)?;
                hmac::verify(secret, signed, signature).is_ok()
            }
            Some("RS256") => {
                let keys = self.issuer_keys.as_ref().ok_or(INVALID)?.current().await;
                let named = header.get("kid").and_then(Value::as_str);
                let key = keys.find(named).ok_or(INVALID)?;
                key.verify(signed, signature)
            }
            _ => false,
        };
        if is_genuine { Ok(()) } else { Err(INVALID) }
    }

    fn check_claims(
        &self,
        claims: &Map<String, Value>,
        now: Timestamp,
    ) -> Result<Timestamp, Error> {
        let end = claims.get("exp").ok_or(Error::Unauthenticated("the token has no end"))?;
        let end = moment(end).ok_or(INVALID)?.plus_secs(LEEWAY_SECS);
        if end <= now {
            return Err(Error::Unauthenticated("the token has expired"));
        }
        let made = match claims.get("iat") {
            Some(made) => moment(made).ok_or(INVALID)?.min(now),
            None => now,
        };
        if end > made.plus_secs(self.lifetime_max + 2 * LEEWAY_SECS) {
            return Err(Error::Unauthenticated(
                "the token lasts longer than this server takes (jwt.token_seconds)",
            ));
        }
        if let Some(begin) = claims.get("nbf") {
            let begin = moment(begin).ok_or(INVALID)?;
            if begin > now.plus_secs(LEEWAY_SECS) {
                return Err(Error::Unauthenticated("the token is not valid yet"));
            }
        }
        if let Some(issuer) = &self.issuer
            && claims.get("iss").and_then(Value::as_str) != Some(issuer)
        {
            return Err(Error::Unauthenticated("the token is of another issuer"));
        }
        // A token that says whom it is for is for nobody else, so one with an audience needs ours.
        let is_ours = match (claims.get("aud"), &self.audience) {
            (None, None) => true,
            (Some(Value::String(one)), Some(ours)) => one == ours,
            (Some(Value::Array(all)), Some(ours)) => all.iter().any(|one| one == ours.as_str()),
            _ => false,
        };
        if !is_ours {
            return Err(Error::Unauthenticated("the token is for another audience"));
        }
        Ok(end)
    }

    fn agent<'a>(&self, claims: &'a Map<String, Value>) -> Result<&'a str, Error> {
        let found = match &self.agent_claim {
            Some(name) => claims.get(name),
            None => AGENT_CLAIMS.iter().find_map(|name| claims.get(*name)),
        };
        let agent = found.and_then(Value::as_str).ok_or(NAMES_NOBODY)?;
        let is_name = !agent.is_empty()
            && agent.chars().count() <= limit::NAME_CHARS_MAX
            && !agent.chars().any(char::is_control);
        if is_name { Ok(agent) } else { Err(NAMES_NOBODY) }
    }
}

/// Whether a credential has the form of a token: three parts, the first of them a JSON object.
pub(super) fn looks_signed(credential: &str) -> bool {
    let mut parts = credential.split('.');
    let header = parts.next().unwrap_or_default();
    // Whatever is longer than a whole token may be, its header is not looked at.
    let is_short = header.len() <= TOKEN_BYTES_MAX;
    parts.count() == 2 && (!is_short || object(header).is_some())
}

fn object(part: &str) -> Option<Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// A moment in seconds since 1970; fractions of a second are cut off.
fn moment(value: &Value) -> Option<Timestamp> {
    let seconds = match (value.as_i64(), value.as_f64()) {
        (Some(seconds), _) => seconds,
        // What does not fit is held to the bounds and then refused.
        (None, Some(seconds)) => seconds as i64,
        (None, None) => return None,
    };
    (0..=LAST_SECOND).contains(&seconds).then(|| Timestamp::from_micros(seconds * 1_000_000))
}

#[cfg(test)]
#[path = "token/tests.rs"]
mod tests;
