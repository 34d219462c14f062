//! Who is in which group (a chat, a room) right now. Access that rests on it is decided anew at
//! every request and never turned into a grant.

use crate::{PrincipalId, Timestamp};

/// A principal in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// The group, a principal of kind `Group`.
    pub group: PrincipalId,
    /// Who is in it.
    pub member: PrincipalId,
    /// Since when.
    pub since: Timestamp,
}
