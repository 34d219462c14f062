//! The beta header of the memory store endpoints. Old and new clients name the feature differently;
//! exactly one of the two names must be there, among any number of unrelated ones.

use super::error::Problem;
use axum::http::HeaderMap;
use loci_model::Invalid;

/// The header.
pub(super) const HEADER: &str = "anthropic-beta";
/// The newer name and the older one.
pub(super) const NAMES: [&str; 2] = ["agent-memory-2026-07-22", "managed-agents-2026-04-01"];

/// Whether a request comes from a client of this API: it carries either name. The client libraries
/// send the older one with requests about agents; callers that send the newer one everywhere are
/// clients of this API, too, and no others send either.
pub(super) fn names_either(headers: &HeaderMap) -> bool {
    NAMES.iter().any(|name| names_one(headers, name))
}

/// Whether a request names the beta that the client libraries send with requests about agents.
pub(super) fn names_agents(headers: &HeaderMap) -> bool {
    names_one(headers, NAMES[1])
}

fn names_one(headers: &HeaderMap, wanted: &str) -> bool {
    let values = headers.get_all(HEADER).into_iter();
    let mut names = values.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    names.any(|name| name.trim() == wanted)
}

/// Refuses a request that names neither feature, or both.
pub(super) fn require(headers: &HeaderMap) -> Result<(), Problem> {
    let mut is_named = [false; NAMES.len()];
    for value in headers.get_all(HEADER) {
        // A value that is not text cannot be one of ours.
        for name in value.to_str().unwrap_or_default().split(',') {
            for (known, is_named) in NAMES.iter().zip(&mut is_named) {
                *is_named |= name.trim() == *known;
            }
        }
    }
    let refuse = |why: String| Err(Invalid::new(HEADER, why).into());
    match is_named.iter().filter(|named| **named).count() {
        1 => Ok(()),
        0 => refuse(format!("must name {} or {}", NAMES[0], NAMES[1])),
        _ => refuse(format!("must not name both {} and {}", NAMES[0], NAMES[1])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn exactly_one_of_the_two_names() {
        let check = |values: &[&'static str], is_accepted: bool| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, HeaderValue::from_static(value));
            }
            assert_eq!(require(&headers).is_ok(), is_accepted, "{values:?}");
        };
        check(&["agent-memory-2026-07-22"], true);
        check(&["managed-agents-2026-04-01"], true);
        check(&["files-api-2025-04-14, managed-agents-2026-04-01"], true);
        check(&["other", "agent-memory-2026-07-22"], true);
        check(&["agent-memory-2026-07-22,agent-memory-2026-07-22"], true);
        check(&[], false);
        check(&[""], false);
        check(&["files-api-2025-04-14"], false);
        check(&["agent-memory-2026-07-22-x"], false);
        check(&["agent-memory-2026-07-22,managed-agents-2026-04-01"], false);
        check(&["agent-memory-2026-07-22", "managed-agents-2026-04-01"], false);
    }
}
