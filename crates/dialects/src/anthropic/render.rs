//! What all answers share: JSON written straight into one buffer, ids and times shown without an
//! intermediate string, and the page.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use loci_model::Actor;
use serde::{Serialize, Serializer};
use std::fmt::Display;
use utoipa::ToSchema;

/// Bytes of a typical object without content; saves growing the buffer on the way.
const OBJECT_BYTES: usize = 512;

/// Something with a text form, written as a JSON string.
pub(super) struct Shown<T>(pub(super) T);

impl<T: Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// One page of a listing.
#[derive(Serialize, ToSchema)]
#[schema(as = Page)]
pub(super) struct PageBody<T> {
    pub(super) data: Vec<T>,
    /// Send it back as `page` for the next page; null on the last one.
    pub(super) next_page: Option<String>,
}

/// What is left of something that was deleted.
#[derive(Serialize, ToSchema)]
#[schema(as = Deleted)]
pub(super) struct DeletedBody {
    id: String,
    /// `memory_store_deleted`, `memory_deleted` or `session_deleted`.
    r#type: &'static str,
}

/// A tombstone.
pub(super) fn deleted(id: impl Display, kind: &'static str) -> Response<Body> {
    json(&DeletedBody { id: id.to_string(), r#type: kind })
}

/// Who wrote or redacted a version.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type")]
#[schema(as = Actor)]
pub(super) enum ActorBody {
    /// A session.
    #[serde(rename = "session_actor")]
    Session {
        #[schema(value_type = String)]
        session_id: Shown<loci_model::SessionId>,
    },
    /// An API key; this names the key, it is not the secret.
    #[serde(rename = "api_actor")]
    Api {
        #[schema(value_type = String)]
        api_key_id: Shown<loci_model::KeyId>,
    },
    /// A person.
    #[serde(rename = "user_actor")]
    User { user_id: String },
    /// A service account.
    #[serde(rename = "service_account_actor")]
    ServiceAccount { service_account_id: String },
}

/// Prefixes this door gives to principals.
pub(super) const USER: &str = "user_";
pub(super) const SERVICE_ACCOUNT: &str = "svac_";

impl ActorBody {
    /// The actor as this door shows it; what the server did by itself has no author here.
    pub(super) fn of(actor: Actor) -> Option<Self> {
        Some(match actor {
            Actor::Session(id) => Self::Session { session_id: Shown(id) },
            Actor::Key(id) => Self::Api { api_key_id: Shown(id) },
            Actor::User(id) => Self::User { user_id: id.with_prefix(USER) },
            Actor::Service(id) => {
                Self::ServiceAccount { service_account_id: id.with_prefix(SERVICE_ACCOUNT) }
            }
            Actor::System => return None,
        })
    }
}

/// A 200 with a JSON body.
pub(super) fn json(body: &impl Serialize) -> Response<Body> {
    json_with_capacity(body, OBJECT_BYTES)
}

/// A 200 with a JSON body of about this many bytes.
pub(super) fn json_with_capacity(body: &impl Serialize, bytes: usize) -> Response<Body> {
    let mut buffer = Vec::with_capacity(bytes);
    serde_json::to_writer(&mut buffer, body)
        .expect("our bodies have string keys and a Vec is written");
    let mut response = Response::new(Body::from(buffer));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// About how long `text` becomes as JSON: most of it as it is, some of it escaped.
pub(super) fn capacity_for(text_bytes: usize) -> usize {
    OBJECT_BYTES + text_bytes + text_bytes / 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_model::{KeyId, PrincipalId, SessionId};

    #[test]
    fn each_actor_has_one_id_and_the_server_itself_none() {
        let check = |actor, expect: &str| {
            assert_eq!(serde_json::to_string(&ActorBody::of(actor)).unwrap(), expect);
        };
        let digits = "010000000000000000000007";
        check(
            Actor::Session(SessionId::from_u128(7)),
            &format!(r#"{{"type":"session_actor","session_id":"sesn_{digits}"}}"#),
        );
        check(
            Actor::Key(KeyId::from_u128(7)),
            &format!(r#"{{"type":"api_actor","api_key_id":"apikey_{digits}"}}"#),
        );
        check(
            Actor::User(PrincipalId::from_u128(7)),
            &format!(r#"{{"type":"user_actor","user_id":"user_{digits}"}}"#),
        );
        check(
            Actor::Service(PrincipalId::from_u128(7)),
            &format!(r#"{{"type":"service_account_actor","service_account_id":"svac_{digits}"}}"#),
        );
        check(Actor::System, "null");
    }
}
