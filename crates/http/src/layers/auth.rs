//! Who asks: a key or a signed token in one of two headers, a key in the console's cookie, or the
//! operator on a channel that only they can open.
//!
//! Keys are looked up on every request, so that a revoked one is dead at once. A key in the URL
//! counts for nothing, because URLs end up in logs; except where a route has a place for it, whose
//! clients can say it nowhere else. Our own log has the route's pattern instead. What has the form of
//! a token is never tried as a key, unless no tokens are taken at all. Some clients append the handle
//! of a project to their key; what that means is for the door to say.

use super::cookie;
use super::token::{Tokens, looks_signed};
use crate::error::Failure;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use loci_engine::{Appended, Engine, Error, Secret, Visit};
use loci_model::{Audience, Caller};
use percent_encoding::percent_decode_str;

const AUDIENCE: HeaderName = HeaderName::from_static("loci-audience");

/// Left on requests that come over a channel only the operator can open: the socket in the data
/// directory, or the process itself. Without a key of its own such a request is the operator's.
#[derive(Debug, Clone)]
pub struct LocalOperator(pub Caller);

/// What tells credentials apart without being one.
pub(super) type Fingerprint = [u8; 32];

/// Left on requests with a key: the hash of what was shown, for streams that must ask again whether
/// it still counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown(pub(crate) Fingerprint);

/// What was found out about the caller.
pub(super) enum Found {
    /// No credential.
    Nobody,
    /// A credential that opens nothing, or could not be looked up.
    Refused(Error),
    /// The holder of a valid key, or the agent that a valid token names; what its requests are
    /// counted under, and what was appended to the key.
    Known(Caller, Fingerprint, Option<Appended>),
    /// Somebody with a token of their own making, and where they want to go.
    Visitor(Caller, Fingerprint, Visit),
    /// The operator in person.
    Operator(Caller),
}

impl Found {
    /// What requests are counted under; those of nobody and of the operator are not.
    pub(super) fn fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            Self::Known(_, fingerprint, _) | Self::Visitor(_, fingerprint, _) => Some(fingerprint),
            Self::Nobody | Self::Refused(_) | Self::Operator(_) => None,
        }
    }
}

/// Looks for a credential. Never refuses by itself. What stands in the path is looked at after the
/// headers: a client that can send those means them. A cookie counts where nothing else is, because
/// browsers send it by themselves.
pub(super) async fn find_caller(
    engine: &Engine,
    tokens: Option<&Tokens>,
    method: &Method,
    headers: &HeaderMap,
    in_path: Option<&str>,
    operator: Option<&LocalOperator>,
) -> Found {
    let presented = match (credential(headers), operator) {
        (Some(presented), _) => presented,
        (None, Some(LocalOperator(caller))) => return Found::Operator(caller.clone()),
        (None, None) => match in_path {
            Some(presented) => presented,
            None => return by_cookie(engine, method, headers).await,
        },
    };
    let found = match tokens.filter(|_| looks_signed(presented)) {
        Some(tokens) => by_token(engine, tokens, presented).await,
        None => by_key(engine, presented).await,
    };
    found.unwrap_or_else(Found::Refused)
}

async fn by_cookie(engine: &Engine, method: &Method, headers: &HeaderMap) -> Found {
    let Some(shown) = cookie::shown(headers) else { return Found::Nobody };
    if !cookie::is_own_page(method, headers) {
        return Found::Refused(Error::Denied(cookie::NOT_OUR_PAGE));
    }
    match engine.authenticate(shown).await {
        Ok(caller) => Found::Known(caller, Secret::hash_of(shown), None),
        Err(Error::Unauthenticated(_)) => {
            Found::Refused(Error::Unauthenticated("the console's session has ended; sign in again"))
        }
        Err(error) => Found::Refused(error),
    }
}

/// The whole may be a key, or the part before the handle of a project. Either is counted as the key.
async fn by_key(engine: &Engine, presented: &str) -> Result<Found, Error> {
    let known = |caller, key, appended| Found::Known(caller, Secret::hash_of(key), appended);
    let unknown = match engine.authenticate(presented).await {
        Err(error @ Error::Unauthenticated(_)) => error,
        whole => return whole.map(|caller| known(caller, presented, None)),
    };
    match with_handle(presented) {
        None => Err(unknown),
        Some((key, handle)) => {
            let caller = engine.authenticate(key).await?;
            Ok(known(caller, key, Some(Appended(handle.into()))))
        }
    }
}

/// A key and the handle of a project: lower case words of letters and digits, joined by hyphens.
fn with_handle(presented: &str) -> Option<(&str, &str)> {
    let (key, handle) = presented.rsplit_once('.')?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_plain);
    let is_handle = handle.split('-').all(is_word) && !looks_signed(presented);
    (is_handle && !key.is_empty()).then_some((key, handle))
}

/// An agent has a new token every so often and stays who it is, so its tokens are counted together.
async fn by_token(engine: &Engine, tokens: &Tokens, presented: &str) -> Result<Found, Error> {
    let named = tokens.verify(presented, engine.seams().now()).await?;
    let end = Some(named.expires_at);
    let caller = engine.authenticate_agent(&named.agent, Audience::Host, end).await;
    let caller = caller.map_err(|error| match error {
        // The name is a group's, or no name.
        Error::Taken(_) | Error::Invalid(_) => {
            Error::Unauthenticated("the token names no agent of this server")
        }
        other => other,
    })?;
    let fingerprint = Secret::hash_of(&format!("token of {}", caller.principal));
    Ok(Found::Known(caller, fingerprint, None))
}

/// The segment of a path that the route's pattern calls `{api_token}`.
pub(super) fn in_path(pattern: &str, path: &str) -> Option<String> {
    let place = pattern.split('/').position(|segment| segment == "{api_token}")?;
    let presented = percent_decode_str(path.split('/').nth(place)?).decode_utf8().ok()?;
    Some(presented.trim().to_owned()).filter(|presented| !presented.is_empty())
}

fn credential(headers: &HeaderMap) -> Option<&str> {
    bearer(headers)
        .or_else(|| headers.get("x-api-key")?.to_str().ok())
        .map(str::trim)
        .filter(|secret| !secret.is_empty())
}

/// Whether a request asks to count as a model's, whatever its credential is. It can only narrow: there
/// is no word for the other way.
pub(super) fn asks_as_model(headers: &HeaderMap) -> Result<bool, Failure> {
    match headers.get(&AUDIENCE).map(HeaderValue::as_bytes) {
        None => Ok(false),
        Some(b"model") => Ok(true),
        Some(_) => Err(Failure::invalid("loci-audience: expected model, or no such header")),
    }
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
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
    fn a_request_can_count_as_a_models_and_never_as_a_hosts() {
        let asks = |value: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(AUDIENCE, value.parse().unwrap());
            }
            asks_as_model(&headers).ok()
        };
        assert_eq!(asks(None), Some(false));
        assert_eq!(asks(Some("model")), Some(true));
        for unknown in ["host", "Model", "", "model,host"] {
            assert_eq!(asks(Some(unknown)), None, "{unknown}");
        }
    }

    #[test]
    fn only_the_segment_that_is_meant_for_it_is_a_credential() {
        let hook = "/api/v1/pd/webhook/{api_token}/{pd_alias}/{trigger_name}";
        let found = |path| in_path(hook, path);
        assert_eq!(found("/api/v1/pd/webhook/k1/a/b").as_deref(), Some("k1"));
        assert_eq!(found("/api/v1/pd/webhook/k%2F1/a/b").as_deref(), Some("k/1"));
        assert_eq!(found("/api/v1/pd/webhook/%20/a/b"), None);
        assert_eq!(found("/api/v1/pd/webhook/%ff/a/b"), None);
        assert_eq!(in_path("/v1/memory_stores/{memory_store_id}", "/v1/memory_stores/k1"), None);
    }

    #[test]
    fn handles_of_projects_are_told_from_keys() {
        for (presented, expected) in [
            ("key.default", Some(("key", "default"))),
            ("key.a-2", Some(("key", "a-2"))),
            ("a.b.c", Some(("a.b", "c"))),
            ("key", None),
            ("key.", None),
            (".default", None),
            ("key.Default", None),
            ("key.a--b", None),
            ("key.-a", None),
            ("eyJhbGciOiJub25lIn0.e30.sig", None),
        ] {
            assert_eq!(with_handle(presented), expected, "{presented}");
        }
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
