//! Someone who can be authorized.

use crate::{PrincipalId, Timestamp, WorkspaceId};

/// What sort of principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PrincipalKind {
    /// A person.
    User,
    /// An agent.
    Agent,
    /// A service account.
    Service,
    /// Several others together, such as the participants of a chat; holds no keys.
    Group,
}

/// Which of its own stores a principal may use at all. An operator's switches: off means that
/// nothing is read and nothing written there, whoever asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemorySwitches {
    /// Any memory at all.
    pub is_on: bool,
    /// What it keeps for itself.
    pub own: bool,
    /// The stores of the groups it is in.
    pub groups: bool,
    /// The stores of the users it is in a group with.
    pub users: bool,
}

impl Default for MemorySwitches {
    fn default() -> Self {
        Self { is_on: true, own: true, groups: true, users: true }
    }
}

/// A principal of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The principal.
    pub id: PrincipalId,
    /// The tenant.
    pub workspace: WorkspaceId,
    /// What sort.
    pub kind: PrincipalKind,
    /// Its name, unique in the workspace.
    pub name: String,
    /// Whether it administers the workspace: it then passes as the owner of every store in it.
    pub is_admin: bool,
    /// Which memory it may use.
    pub memory: MemorySwitches,
    /// Since when.
    pub created_at: Timestamp,
}
