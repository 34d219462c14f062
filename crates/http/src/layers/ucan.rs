//! Visitors of the QiForge door: who they are, by a UCAN and nothing else. A key of this server opens
//! nothing there, and a UCAN opens nothing elsewhere.
//!
//! Tokens are verified on every request and kept nowhere. Keys of issuers whose DID does not hold
//! them are looked up by a [`KeySource`]: first those of whoever made the token, and those of its proofs
//! only when that one's signature holds. A token is worth few lookups, and so is an address.

mod known;

use super::auth::{Found, bearer};
use http::HeaderMap;
use known::KnownKeys;
use loci_engine::{Engine, Error, Secret, Visit};
use loci_model::{Level, Timestamp};
use loci_ucan::{Did, Key, Keys, Refused, Terms, Token, Verified};
use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// Characters of a room's id.
const ROOM_CHARS_MAX: usize = 255;
/// Lookups of keys for one token: whoever made it, the user, and one in between.
const LOOKUPS_MAX: u32 = 3;

/// What is told where no visitors are taken.
pub(super) const CLOSED: &str =
    "this server does not serve QiForge; [qiforge] in its configuration turns that on";

/// Looks up the keys of somebody whose DID does not hold them.
pub trait KeySource: Send + Sync {
    /// Their Ed25519 keys; an error in fixed words if they cannot be had now. Blocks, for a few
    /// seconds at most.
    fn keys(&self, did: &Did) -> Result<Vec<Key>, &'static str>;
}

/// Which tokens count.
pub struct UcanOptions {
    /// Who this server is; a token must be meant for one of these.
    pub audiences: Vec<Did>,
    /// Keys that the operator vouches for; of these DIDs no others are looked up.
    pub keys: Keys,
    /// Where other keys are found.
    pub source: Arc<dyn KeySource>,
    /// Whether a claim to everything is taken as one to memory.
    pub accepts_star: bool,
    /// In how many seconds a token must end.
    pub lifetime_max: u32,
    /// Who may come; without a list, everybody.
    pub users: Option<BTreeSet<Did>>,
    /// Through whom they may come; without a list, through everybody and in person.
    pub oracles: Option<BTreeSet<Did>>,
}

/// Verifies tokens.
pub struct Ucans {
    options: UcanOptions,
    known: KnownKeys,
}

impl fmt::Debug for Ucans {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ucans").finish_non_exhaustive()
    }
}

impl Ucans {
    /// Takes tokens as told.
    pub fn new(options: UcanOptions) -> Self {
        let known = KnownKeys::new(Arc::clone(&options.source));
        Self { options, known }
    }

    async fn verify(
        &self,
        presented: &str,
        now: Timestamp,
        from: IpAddr,
    ) -> Result<Verified, Error> {
        let terms = Terms {
            audiences: &self.options.audiences,
            now: now.as_micros().div_euclid(1_000_000),
            accepts_star: self.options.accepts_star,
            lifetime_max: Some(self.options.lifetime_max),
        };
        let token = Token::parse(presented).map_err(refusal)?;
        let mut learned = Learned { keys: Keys::new(), lookups: 0, from };
        self.learn(&mut learned, token.invoker(&terms).map_err(refusal)?).await?;
        token.check_invoker(&terms, &learned.keys).map_err(refusal)?;
        for issuer in token.issuers(&terms).map_err(refusal)? {
            self.learn(&mut learned, &issuer).await?;
        }
        let verified = token.verify(&terms, &learned.keys).map_err(refusal)?;
        self.check_lists(&verified)?;
        Ok(verified)
    }

    /// Finds the keys of an issuer, unless its DID holds them.
    async fn learn(&self, learned: &mut Learned, issuer: &Did) -> Result<(), Error> {
        const TOO_MANY: Error = Error::Unauthenticated(
            "the token names more issuers whose keys would have to be looked up than are taken",
        );
        if issuer.method() == "key" || learned.keys.contains_key(issuer) {
            return Ok(());
        }
        let known = self.options.keys.get(issuer).cloned().or_else(|| self.known.kept(issuer));
        let keys = match known {
            Some(keys) => keys,
            None if learned.lookups == LOOKUPS_MAX => return Err(TOO_MANY),
            None => {
                learned.lookups += 1;
                self.known.find(issuer, learned.from).await?
            }
        };
        learned.keys.insert(issuer.clone(), keys);
        Ok(())
    }

    fn check_lists(&self, verified: &Verified) -> Result<(), Error> {
        let Verified { user, oracle, .. } = verified;
        if self.options.users.as_ref().is_some_and(|users| !users.contains(user)) {
            return Err(Error::Denied("this server does not take this user"));
        }
        let is_taken = |oracles: &BTreeSet<Did>| match oracle {
            Some(oracle) => oracles.contains(oracle),
            None => self.options.users.is_some(),
        };
        if self.options.oracles.as_ref().is_some_and(|oracles| !is_taken(oracles)) {
            return Err(Error::Denied("this server does not take users from this oracle"));
        }
        Ok(())
    }
}

/// What was found out for one token.
struct Learned {
    keys: Keys,
    lookups: u32,
    from: IpAddr,
}

fn refusal(refused: Refused) -> Error {
    match refused.status {
        403 => Error::Denied(refused.why),
        _ => Error::Unauthenticated(refused.why),
    }
}

/// Who visits, and which room they mean. Never refuses by itself.
pub(super) async fn find_visitor(
    engine: &Engine,
    ucans: &Ucans,
    headers: &HeaderMap,
    from: Option<IpAddr>,
) -> Found {
    // Nothing but the network has an address.
    let from = from.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    match visit(engine, ucans, headers, from).await {
        Ok(found) => found,
        Err(error) => Found::Refused(error),
    }
}

async fn visit(
    engine: &Engine,
    ucans: &Ucans,
    headers: &HeaderMap,
    from: IpAddr,
) -> Result<Found, Error> {
    const WANTED: Error = Error::Unauthenticated(
        "a UCAN is needed: send it as Authorization: Bearer TOKEN with X-Auth-Type: ucan",
    );
    let kind = headers.get("x-auth-type").and_then(|value| value.to_str().ok());
    if !kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("ucan")) {
        return Err(WANTED);
    }
    let presented = bearer(headers).map(str::trim).filter(|text| !text.is_empty());
    let verified = ucans.verify(presented.ok_or(WANTED)?, engine.seams().now(), from).await?;
    let (user, oracle) = (verified.user.as_str(), verified.oracle.as_ref().map(Did::as_str));
    let expires_at = verified
        .expires_at
        .and_then(|end| Some(Timestamp::from_micros(end.checked_mul(1_000_000)?)));
    let level = level(&verified.ability);
    let caller = engine.authenticate_visitor(user, oracle, level, expires_at).await?;
    let fingerprint = Secret::hash_of(&format!("visits of {}", caller.principal));
    let visit = Visit { user: user.into(), oracle: oracle.map(Into::into), room: room(headers) };
    Ok(Found::Visitor(caller, fingerprint, visit))
}

/// What an ability is good for. The wide one and the one named so allow writing; whatever narrower
/// ability there may be is taken to be for reading.
fn level(ability: &str) -> Level {
    match ability {
        "*" | "memory/*" | "memory/write" => Level::ReadWrite,
        _ => Level::Read,
    }
}

fn room(headers: &HeaderMap) -> Option<Arc<str>> {
    let room = headers.get("x-room-id")?.to_str().ok()?.trim();
    (!room.is_empty() && room.len() <= ROOM_CHARS_MAX).then(|| room.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_abilities_read() {
        for (ability, expected) in [
            ("memory/*", Level::ReadWrite),
            ("*", Level::ReadWrite),
            ("memory/write", Level::ReadWrite),
            ("memory/search", Level::Read),
            ("memory/writes", Level::Read),
        ] {
            assert_eq!(level(ability), expected, "{ability}");
        }
    }

    #[test]
    fn rooms_are_short_texts() {
        let room = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-room-id", text.parse().unwrap());
            room(&headers).map(|room| room.to_string())
        };
        assert_eq!(room(" !abc:server ").as_deref(), Some("!abc:server"));
        assert_eq!(room(" "), None);
        assert_eq!(room(&"x".repeat(256)), None);
        assert!(room(&"x".repeat(255)).is_some());
    }
}
