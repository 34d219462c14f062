//! Sharing: what somebody can give of a store and take back, when they ask and once more when it is
//! written.

use super::{Denied, Facts, Ground, SharePass, Standing, refuse_models};
use crate::store::Who;
use crate::{Caller, Grant, Grantee, Level, PrincipalId, Timestamp};

/// Share and revoke. Not for models, nor for sessions: a grant would outlive them.
pub fn share(caller: &Caller, facts: &Facts, now: Timestamp) -> Result<SharePass, Denied> {
    let needed = match facts.store.policy.share {
        Who::Writer => Standing::Upto(Level::ReadWrite),
        Who::Owner => Standing::Owner,
    };
    facts.require(caller, now, needed)?;
    refuse_models(caller)?;
    if caller.session.is_some() {
        return Err(Denied::KNOWN);
    }
    let giving = Giving::of(facts, caller.principal, caller.is_admin, now);
    Ok(SharePass {
        workspace: caller.workspace,
        store: facts.store.id,
        now,
        giver: caller.principal,
        giving: giving.ok_or(Denied::KNOWN)?,
        is_unasked: false,
    })
}

/// What somebody can give of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Giving {
    level_max: Level,
    expires_max: Option<Timestamp>,
    has_all: bool,
}

impl Giving {
    pub(super) const ALL: Self =
        Self { level_max: Level::ReadWrite, expires_max: None, has_all: true };

    /// What a principal can give, as things stand; nothing, if it may not share the store.
    fn of(facts: &Facts, who: PrincipalId, is_admin: bool, now: Timestamp) -> Option<Self> {
        if is_admin || facts.store.owner == who {
            return Some(Self::ALL);
        }
        let (ground, level) = facts.ground(who, now)?;
        if level < Level::ReadWrite || facts.store.policy.share == Who::Owner {
            return None;
        }
        let stands_on = match ground {
            Ground::Grant => facts.grant_to(Grantee::Principal(who), now),
            Ground::Everyone => facts.grant_to(Grantee::Everyone, now),
            Ground::Owner | Ground::Member | Ground::Companion => None,
        };
        Some(Self {
            level_max: level,
            expires_max: stands_on.and_then(|grant| grant.expires_at),
            // A group owns its store together.
            has_all: ground == Ground::Member,
        })
    }
}

impl SharePass {
    /// The same pass as its giver stands at the moment of the write, by facts about the giver that
    /// were read in its transaction: somebody may have taken from them meanwhile what they are
    /// about to give. A refusal says whether they still know the store.
    pub fn renewed(&self, is_admin: bool, facts: &Facts) -> Result<Self, Denied> {
        if self.is_unasked {
            return Ok(self.clone());
        }
        let giving = Giving::of(facts, self.giver, is_admin, self.now).ok_or_else(|| Denied {
            may_know: facts.ground(self.giver, self.now).is_some(),
            is_off: false,
        })?;
        Ok(Self { giving, ..self.clone() })
    }

    /// Whether so much may be given, until then.
    pub fn may_give(&self, level: Level, expires_at: Option<Timestamp>) -> bool {
        level <= self.giving.level_max && ends_within(expires_at, self.giving.expires_max)
    }

    /// Whether somebody may be given less than they have without it.
    pub fn may_lower(&self) -> bool {
        self.giving.has_all
    }

    /// Whether a grant may be replaced by another: like taking it back, unless it is over.
    pub fn may_replace(&self, grant: &Grant) -> bool {
        self.may_revoke(grant) || !grant.is_valid_at(self.now)
    }

    /// Whether a grant may be taken back: by whoever gave it, and by the owner, with whatever
    /// credential. Replacing counts as taking back, or a guest could make others' grants its own.
    pub fn may_revoke(&self, grant: &Grant) -> bool {
        self.giving.has_all || grant.given_by == self.giver
    }
}

/// Whether something that ends then is over when something else is; `None` is no end.
pub fn ends_within(end: Option<Timestamp>, latest: Option<Timestamp>) -> bool {
    match (end, latest) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(end), Some(latest)) => end <= latest,
    }
}
