//! Whether a token counts, and who it speaks for.
//!
//! The invocation must be meant for us, be of now, be signed by its issuer and claim something about
//! memory. Unless its issuer is the user in person, one of its proofs must carry the claim: made out
//! to whoever uses it, of now, signed, granting what is claimed, and so on up to somebody who needs
//! no proof. That one is the user. A proof that fails any of this contributes nothing, not even a name.

use crate::cbor::Cid;
use crate::did::{Did, Key};
use crate::link::{Capability, Link};
use crate::token::Token;
use crate::{RESOURCE, Refused};
use std::collections::{BTreeMap, BTreeSet};

/// The keys of those whose DID does not hold its own.
pub type Keys = BTreeMap<Did, Vec<Key>>;

/// What a token is held against.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Who we are.
    pub audiences: &'a [Did],
    /// Seconds since 1970.
    pub now: i64,
    /// Whether a claim to everything (`*`) is taken as one to memory.
    pub accepts_star: bool,
    /// In how many seconds from now a token must end; without it, one may have no end.
    pub lifetime_max: Option<u32>,
}

/// A token that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Whose memory it is about: the root of the chain.
    pub user: Did,
    /// Who made the invocation.
    pub invoker: Did,
    /// The same if it acts for somebody else.
    pub oracle: Option<Did>,
    /// When the first link of the chain ends, in seconds since 1970.
    pub expires_at: Option<i64>,
    /// What it claims to do, such as `memory/*`.
    pub ability: String,
}

/// The end of a chain, and when the chain is over.
#[derive(Debug, Clone)]
struct Root {
    user: Did,
    expires_at: Option<i128>,
}

/// One walk up the chains for one claim. What a link leads to is found out once, so that many ways
/// to the same link cost no more than one.
struct Walk<'a> {
    token: &'a Token,
    keys: &'a Keys,
    now: i128,
    claim: &'a Capability,
    known: BTreeMap<&'a Cid, Result<Root, Refused>>,
}

const NO_CLAIM: Refused = Refused::not_allowed("the token claims nothing about ixo:memory");
const NOT_GRANTED: Refused = Refused::not_allowed("a proof of the token does not grant its claim");
const OTHER_HANDS: Refused =
    Refused::not_allowed("a proof of the token is made out to somebody else");

impl Token {
    /// Who made the invocation. A token that could not count in any case is refused.
    pub fn invoker(&self, terms: &Terms<'_>) -> Result<&Did, Refused> {
        self.check_invocation(terms).map(|invocation| &invocation.issuer)
    }

    /// Whether the invocation is signed by who made it. Whoever looks up keys asks this before they
    /// look up those of proofs, which anybody can bring along.
    pub fn check_invoker(&self, terms: &Terms<'_>, keys: &Keys) -> Result<(), Refused> {
        check_signature(self.check_invocation(terms)?, keys)
    }

    /// Whose keys are needed to verify it: of those links only that would count if their signatures
    /// were good. A token that could not count in any case is refused, and nobody is looked up.
    pub fn issuers(&self, terms: &Terms<'_>) -> Result<BTreeSet<Did>, Refused> {
        let invocation = self.check_invocation(terms)?;
        let claims: Vec<&Capability> = claims(invocation, terms).collect();
        let mut issuers = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![&self.invocation];
        while let Some(cid) = open.pop() {
            let Some(Ok(link)) = self.links.get(cid) else { continue };
            if !seen.insert(cid) {
                continue;
            }
            if link.issuer.method() != "key" {
                issuers.insert(link.issuer.clone());
            }
            open.extend(link.proofs.iter().filter(|proof| match self.links.get(proof) {
                Some(Ok(proof)) => {
                    proof.audience == link.issuer
                        && proof.check_time(i128::from(terms.now)).is_ok()
                        && claims.iter().any(|claim| grants(proof, claim))
                }
                _ => false,
            }));
        }
        Ok(issuers)
    }

    /// Who it speaks for.
    pub fn verify(&self, terms: &Terms<'_>, keys: &Keys) -> Result<Verified, Refused> {
        let invocation = self.check_invocation(terms)?;
        check_signature(invocation, keys)?;
        let mut refused = NO_CLAIM;
        for claim in claims(invocation, terms) {
            let now = i128::from(terms.now);
            let mut walk = Walk { token: self, keys, now, claim, known: BTreeMap::new() };
            match walk.root_of(invocation) {
                Ok(root) => {
                    let invoker = invocation.issuer.clone();
                    let expires_at = root.expires_at;
                    return Ok(Verified {
                        oracle: (!invocation.proofs.is_empty()).then(|| invoker.clone()),
                        invoker,
                        user: root.user,
                        // What ends after our calendar does not end.
                        expires_at: expires_at.and_then(|end| i64::try_from(end).ok()),
                        ability: claim.can.clone(),
                    });
                }
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// Everything about the invocation but its signature.
    fn check_invocation(&self, terms: &Terms<'_>) -> Result<&Link, Refused> {
        let invocation = self.links.get(&self.invocation).ok_or(crate::MALFORMED)?;
        let invocation = invocation.as_ref().map_err(|refused| *refused)?;
        if !terms.audiences.contains(&invocation.audience) {
            return Err(Refused::unproven("the token is meant for another server"));
        }
        let now = i128::from(terms.now);
        invocation.check_time(now)?;
        if let Some(most) = terms.lifetime_max
            && invocation.expires_at.is_none_or(|end| end > now + i128::from(most))
        {
            return Err(Refused::unproven("the token has no end, or one later than is taken here"));
        }
        Ok(invocation)
    }
}

impl<'a> Walk<'a> {
    /// Who stands at the end of a chain that begins with a link that is good in itself.
    fn root_of(&mut self, link: &'a Link) -> Result<Root, Refused> {
        if link.proofs.is_empty() {
            return Ok(Root { user: link.issuer.clone(), expires_at: link.expires_at });
        }
        let mut refused = NOT_GRANTED;
        for proof in &link.proofs {
            match self.carry(proof, &link.issuer) {
                Ok(root) => {
                    let ends = [root.expires_at, link.expires_at];
                    let expires_at = ends.into_iter().flatten().min();
                    return Ok(Root { user: root.user, expires_at });
                }
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// The same for a proof in somebody's hands.
    fn carry(&mut self, cid: &'a Cid, hands: &Did) -> Result<Root, Refused> {
        let link = self.token.links.get(cid).ok_or(crate::MALFORMED)?;
        let link = link.as_ref().map_err(|refused| *refused)?;
        if link.audience != *hands {
            return Err(OTHER_HANDS);
        }
        if let Some(known) = self.known.get(cid) {
            return known.clone();
        }
        let found = self.examine(link);
        self.known.insert(cid, found.clone());
        found
    }

    fn examine(&mut self, link: &'a Link) -> Result<Root, Refused> {
        link.check_time(self.now)?;
        check_signature(link, self.keys)?;
        if !grants(link, self.claim) {
            return Err(NOT_GRANTED);
        }
        self.root_of(link)
    }
}

fn check_signature(link: &Link, keys: &Keys) -> Result<(), Refused> {
    let own = match link.issuer.method() {
        // What such a DID means stands in it; nobody else can say otherwise.
        "key" => link.issuer.own_key().map(|key| vec![key]),
        _ => keys.get(&link.issuer).filter(|keys| !keys.is_empty()).cloned(),
    };
    let keys = own.ok_or(Refused::unproven("the keys of an issuer of the token are not known"))?;
    match link.is_signed_by(&keys) {
        true => Ok(()),
        false => Err(Refused::unproven("a signature of the token is not its issuer's")),
    }
}

/// What an invocation claims that is about memory.
fn claims<'l>(link: &'l Link, terms: &Terms<'_>) -> impl Iterator<Item = &'l Capability> {
    let accepts_star = terms.accepts_star;
    link.capabilities.iter().filter(move |one| {
        let is_memory = one.can.strip_prefix("memory/").is_some_and(|rest| !rest.is_empty());
        one.with == RESOURCE && (is_memory || (accepts_star && one.can == "*"))
    })
}

fn grants(link: &Link, claim: &Capability) -> bool {
    let covers = |granted: &Capability| {
        ability_covers(&granted.can, &claim.can) && resource_covers(&granted.with, &claim.with)
    };
    link.capabilities.iter().any(covers)
}

fn ability_covers(granted: &str, claimed: &str) -> bool {
    let is_wider = |family: &str| family.ends_with('/') && claimed.starts_with(family);
    granted == "*" || granted == claimed || granted.strip_suffix('*').is_some_and(is_wider)
}

fn resource_covers(granted: &str, claimed: &str) -> bool {
    let is_wider = |prefix: &str| prefix.ends_with(['/', ':']) && claimed.starts_with(prefix);
    granted == "ucan:*" || granted == claimed || granted.strip_suffix('*').is_some_and(is_wider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abilities_cover_what_is_narrower() {
        for (granted, claimed, expected) in [
            ("*", "memory/*", true),
            ("*", "*", true),
            ("memory/*", "memory/*", true),
            ("memory/*", "memory/search", true),
            ("memory/*", "*", false),
            ("memory/search", "memory/*", false),
            ("memory/search", "memory/search", true),
            ("mem*", "memory/search", false),
            ("memory", "memory/search", false),
            ("", "memory/search", false),
        ] {
            assert_eq!(ability_covers(granted, claimed), expected, "{granted} {claimed}");
        }
    }

    #[test]
    fn resources_cover_what_is_under_them() {
        for (granted, expected) in [
            ("ixo:memory", true),
            ("ixo:*", true),
            ("ucan:*", true),
            ("*", false),
            ("ixo:mem*", false),
            ("ixo:memory/*", false),
            ("IXO:memory", false),
            ("", false),
        ] {
            assert_eq!(resource_covers(granted, RESOURCE), expected, "{granted}");
        }
    }
}
