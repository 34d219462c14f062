//! API keys as the core knows them: what they may do, never their secret.

use crate::{Audience, KeyId, Level, PrincipalId, SessionId, StoreId, Timestamp, WorkspaceId};

/// How much of its principal's authority a credential carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Power {
    /// Up to a level of access to stores.
    UpTo(Level),
    /// Everything the principal may do, managing stores and keys included.
    Full,
}

/// A credential's limits. It can only shrink what policy allows its principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyScope {
    /// At most this much.
    pub power: Power,
    /// Only these stores, when given.
    pub stores: Option<Vec<StoreId>>,
}

impl KeyScope {
    /// No limits.
    pub const FULL: Self = Self { power: Power::Full, stores: None };

    /// Whether the scope reaches this store at all.
    pub fn reaches(&self, store: StoreId) -> bool {
        self.stores.as_ref().is_none_or(|stores| stores.contains(&store))
    }
}

/// A stored API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The key's id; it names the key in versions.
    pub id: KeyId,
    /// The tenant.
    pub workspace: WorkspaceId,
    /// On whose authority it acts.
    pub principal: PrincipalId,
    /// A name for people.
    pub name: String,
    /// The first characters of the secret, to recognise it by.
    pub hint: String,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// Its limits.
    pub scope: KeyScope,
    /// The session it is bound to.
    pub session: Option<SessionId>,
    /// Host or model.
    pub audience: Audience,
    /// Whether it may act for any agent that a request names: the key of a platform that many
    /// agents stand behind.
    pub acts_for_agents: bool,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether the key opens anything now.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
