//! Who asks: a key in one of two headers, or the operator on a channel that only they can open.
//!
//! Keys are looked up on every request, so that a revoked one is dead at once. A key in the URL
//! counts for nothing: URLs end up in logs.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use loci_engine::{Engine, Secret};
use loci_model::Caller;

/// Left on requests that come over a channel only the operator can open: the socket in the data
/// directory, or the process itself. Without a key of its own such a request is the operator's.
#[derive(Debug, Clone)]
pub struct LocalOperator(pub Caller);

/// What was found out about the caller.
pub(super) enum Found {
    /// No credential.
    Nobody,
    /// A credential that opens nothing, or could not be looked up.
    Refused(loci_engine::Error),
    /// The holder of a valid key.
    Key(Caller),
    /// The operator in person.
    Operator(Caller),
}

/// Looks for a credential. Never refuses by itself.
pub(super) async fn find_caller(
    engine: &Engine,
    headers: &HeaderMap,
    operator: Option<&LocalOperator>,
) -> Found {
    let Some(presented) = credential(headers) else {
        return match operator {
            Some(LocalOperator(caller)) => Found::Operator(caller.clone()),
            None => Found::Nobody,
        };
    };
    match engine.authenticate(presented).await {
        Ok(caller) => Found::Key(caller),
        Err(error) => Found::Refused(error),
    }
}

/// The hash of the presented secret, to tell keys apart by without keeping them.
pub(super) fn secret_hash(headers: &HeaderMap) -> Option<[u8; 32]> {
    credential(headers).map(Secret::hash_of)
}

fn credential(headers: &HeaderMap) -> Option<&str> {
    bearer(headers)
        .or_else(|| headers.get("x-api-key")?.to_str().ok())
        .map(str::trim)
        .filter(|secret| !secret.is_empty())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &'static str)], expected: Option<&str>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        assert_eq!(credential(&map), expected, "{headers:?}");
    }

    #[test]
    fn both_headers_are_read() {
        check(&[("authorization", "Bearer k1")], Some("k1"));
        check(&[("authorization", "bearer  k1")], Some("k1"));
        check(&[("x-api-key", "k2")], Some("k2"));
        check(&[("authorization", "Bearer k1"), ("x-api-key", "k2")], Some("k1"));
        check(&[("authorization", "Basic eA=="), ("x-api-key", "k2")], Some("k2"));
    }

    #[test]
    fn other_schemes_and_empty_keys_are_no_credential() {
        check(&[], None);
        check(&[("authorization", "Basic k1")], None);
        check(&[("authorization", "Bearer")], None);
        check(&[("authorization", "Bearer ")], None);
        check(&[("authorization", "k1")], None);
        check(&[("x-api-key", "")], None);
    }
}
