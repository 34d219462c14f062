//! The identity of one request. Authority comes from the principal and can only be shrunk by the
//! key's scope and the session; the rest is recorded, never trusted.

use crate::{Actor, KeyScope, MemorySwitches, PrincipalId, SessionId, Timestamp, WorkspaceId};

/// Which side of the prompt a request is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Audience {
    /// A program run by people: sees internal memories too.
    Host,
    /// A model: sees only what is meant for its context.
    Model,
}

/// Which user a request says it is about. It opens nothing, and keeps agents that speak with one user
/// out of the homes of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SessionUser {
    /// The request names no user.
    #[default]
    Unsaid,
    /// This one.
    Is(PrincipalId),
    /// One that nobody here knows.
    Unknown,
}

impl SessionUser {
    /// Whether a request may be about this user.
    pub fn may_be(self, user: PrincipalId) -> bool {
        match self {
            Self::Unsaid => true,
            Self::Is(named) => named == user,
            Self::Unknown => false,
        }
    }
}

/// Who is asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The tenant.
    pub workspace: WorkspaceId,
    /// Whose authority is used.
    pub principal: PrincipalId,
    /// Whether the principal administers its workspace.
    pub is_admin: bool,
    /// What is written on versions.
    pub actor: Actor,
    /// The session this caller acts in; it then has only what the session was given.
    pub session: Option<SessionId>,
    /// The user whom the request is about, where it says so.
    pub session_user: SessionUser,
    /// Host or model.
    pub audience: Audience,
    /// Whether the credential may act for any agent that a request names.
    pub acts_for_agents: bool,
    /// Which memory the principal may use.
    pub memory: MemorySwitches,
    /// What the credential may do at most.
    pub scope: KeyScope,
    /// When the credential ends.
    pub expires_at: Option<Timestamp>,
}
