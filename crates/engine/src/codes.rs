//! One table from engine errors to stable codes. A new variant does not compile until it has a
//! line here; doors add their own bodies on top.

use crate::Error;

/// What a door needs to know about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// Stable name, documented in `docs/reference/errors.md`.
    pub name: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Whether the same request may succeed later without anything being changed.
    pub is_retryable: bool,
}

/// The line of an error.
pub fn code(error: &Error) -> Code {
    let (name, status, is_retryable) = match error {
        Error::Invalid(_) => ("invalid", 400, false),
        Error::NotFound(_) => ("not_found", 404, false),
        Error::Denied(_) => ("denied", 403, false),
        Error::Unauthenticated(_) => ("unauthenticated", 401, false),
        Error::PathTaken { .. } => ("path_taken", 409, false),
        Error::ExpectFailed => ("expect_failed", 409, false),
        Error::Archived => ("archived", 400, false),
        Error::Sealed => ("sealed", 400, false),
        Error::TextMatches { .. } => ("text_matches", 400, false),
        Error::TooLarge { .. } => ("too_large", 400, false),
        Error::OverQuota(_) => ("over_quota", 400, false),
        Error::IsHead => ("is_head", 400, false),
        Error::Taken(_) => ("taken", 409, false),
        Error::KeyReused => ("idempotency_key_reused", 400, false),
        Error::Full => ("disk_full", 507, false),
        Error::Unavailable(_) => ("unavailable", 503, true),
        Error::Internal(_) => ("internal", 500, false),
    };
    Code { name, status, is_retryable }
}

/// Every code, for the reference page and its test.
pub const NAMES: [&str; 17] = [
    "invalid",
    "not_found",
    "denied",
    "unauthenticated",
    "path_taken",
    "expect_failed",
    "archived",
    "sealed",
    "text_matches",
    "too_large",
    "over_quota",
    "is_head",
    "taken",
    "idempotency_key_reused",
    "disk_full",
    "unavailable",
    "internal",
];
