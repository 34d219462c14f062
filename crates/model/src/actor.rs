//! Who did it, frozen on a version: a fact set by the server, never a claim from a request body.

use crate::{KeyId, PrincipalId, SessionId};

/// The author of a version or an administrative act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A session, through a mount or with a session's own key.
    Session(SessionId),
    /// An API key.
    Key(KeyId),
    /// A person.
    User(PrincipalId),
    /// A service account.
    Service(PrincipalId),
    /// Loci itself: expiry, compaction, import.
    System,
}
