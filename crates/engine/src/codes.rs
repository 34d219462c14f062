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
        Error::Repeat { .. } => ("repeat", 409, false),
        Error::ExpectFailed => ("expect_failed", 409, false),
        Error::Archived => ("archived", 400, false),
        Error::Sealed => ("sealed", 400, false),
        Error::TextMatches { .. } => ("text_matches", 400, false),
        Error::TooLarge { .. } => ("too_large", 400, false),
        Error::OverQuota(_) => ("over_quota", 400, false),
        Error::TooMany { .. } => ("too_many", 429, true),
        Error::IsHead => ("is_head", 400, false),
        Error::Taken(_) => ("taken", 409, false),
        Error::KeyReused => ("idempotency_key_reused", 400, false),
        Error::Replica => ("replica", 421, false),
        Error::Full => ("disk_full", 507, false),
        Error::Damaged { .. } => ("damaged", 410, false),
        Error::Unavailable(_) => ("unavailable", 503, true),
        Error::Internal(_) => ("internal", 500, false),
    };
    Code { name, status, is_retryable }
}

/// After how many seconds the same request may succeed, for errors that pass.
pub fn retry_after_secs(error: &Error) -> Option<u32> {
    match error {
        Error::TooMany { after_secs, .. } => Some(*after_secs),
        error => code(error).is_retryable.then_some(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::{Invalid, MemoryId, MemoryPath, VersionId};

    fn one_of_each() -> Vec<Error> {
        let path = MemoryPath::parse("/a").unwrap();
        vec![
            Error::Invalid(Invalid::new("field", "why")),
            Error::NotFound("memory"),
            Error::Denied("no"),
            Error::Unauthenticated("no"),
            Error::PathTaken { memory: Some(MemoryId::from_u128(1)), path: path.clone() },
            Error::Repeat { memory: MemoryId::from_u128(1), path },
            Error::ExpectFailed,
            Error::Archived,
            Error::Sealed,
            Error::TextMatches { count: 2 },
            Error::TooLarge { bytes: 2, limit: 1 },
            Error::OverQuota("full".into()),
            Error::TooMany { why: "slower", after_secs: 1 },
            Error::IsHead,
            Error::Taken("name"),
            Error::KeyReused,
            Error::Replica,
            Error::Full,
            Error::Damaged { version: VersionId::from_u128(1) },
            Error::Unavailable("later"),
            Error::Internal("secret detail".into()),
        ]
    }

    #[test]
    fn every_code_is_documented_with_its_status() {
        let page = include_str!("../../../docs/reference/errors.md");
        for error in one_of_each() {
            let Code { name, status, .. } = code(&error);
            assert!(page.contains(&format!("| `{name}` | {status} |")), "{name}");
        }
        let lines = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(lines, one_of_each().len(), "the page lists a code that does not exist");
    }

    #[test]
    fn what_went_wrong_inside_is_not_shown() {
        assert!(!Error::Internal("secret detail".into()).to_string().contains("secret"));
    }
}
