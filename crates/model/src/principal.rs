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
    /// Since when.
    pub created_at: Timestamp,
}
