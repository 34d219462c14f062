//! What all native routes say alike: the error envelope, lists, actors, times.

use loci_model::{Actor, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// Every refusal and failure.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorEnvelope<'a> {
    /// Always `error`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// What went wrong.
    #[schema(inline)]
    pub(crate) error: ErrorBody<'a>,
    /// The request, as in the `request-id` header.
    pub(crate) request_id: String,
}

/// What went wrong.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody<'a> {
    /// `invalid_request_error`, `authentication_error`, `permission_error`, `not_found_error`,
    /// `timeout_error`, `conflict_error`, `request_too_large`, `rate_limit_error` or `api_error`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// For people; not stable.
    pub(crate) message: &'a str,
}

/// A whole list.
#[derive(Serialize, ToSchema)]
pub(crate) struct List<T> {
    /// The items.
    pub(crate) data: Vec<T>,
}

/// Who did something.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "type")]
pub(crate) enum ActorView {
    /// A session.
    #[serde(rename = "session_actor")]
    Session {
        /// Which.
        session_id: String,
    },
    /// An API key.
    #[serde(rename = "api_actor")]
    Key {
        /// Which; never its secret.
        api_key_id: String,
    },
    /// A person.
    #[serde(rename = "user_actor")]
    User {
        /// Who.
        user_id: String,
    },
    /// A service account.
    #[serde(rename = "service_account_actor")]
    ServiceAccount {
        /// Which.
        service_account_id: String,
    },
}

impl ActorView {
    /// Loci itself is nobody: `null`.
    pub(crate) fn of(actor: Actor) -> Option<Self> {
        match actor {
            Actor::Session(id) => Some(Self::Session { session_id: id.to_string() }),
            Actor::Key(id) => Some(Self::Key { api_key_id: id.to_string() }),
            Actor::User(id) => Some(Self::User { user_id: id.with_prefix("user_") }),
            Actor::Service(id) => {
                Some(Self::ServiceAccount { service_account_id: id.with_prefix("svac_") })
            }
            Actor::System => None,
        }
    }
}

/// A time, or none, as text.
pub(crate) fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

/// Tells `null` (clear it) from absence (keep it).
pub(crate) fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
