//! What all native routes say alike: the error envelope, lists, actors, times.

use crate::error::{self, Failure};
use loci_model::{Actor, Timestamp, limit};
use serde::{Deserialize, Deserializer, Serialize};
use std::str::FromStr;
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
    /// What exactly, where the type alone does not tell: see the list of codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<&'static str>,
    /// The path that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conflicting_path: Option<&'a str>,
    /// The memory that is in the way, if the caller may know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conflicting_memory_id: Option<String>,
}

/// A whole list.
#[derive(Serialize, ToSchema)]
pub(crate) struct List<T> {
    /// The items.
    pub(crate) data: Vec<T>,
}

/// A part of a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// The items.
    pub(crate) data: Vec<T>,
    /// What to send as `page` for the next part; `null` at the end.
    pub(crate) next_page: Option<String>,
}

/// Which part of a list.
#[derive(Deserialize)]
pub(crate) struct PageParams {
    limit: Option<usize>,
    page: Option<String>,
}

impl PageParams {
    /// How many items, within the bounds of a page.
    pub(crate) fn limit(&self) -> error::Result<usize> {
        let limit = self.limit.unwrap_or(limit::PAGE_ITEMS_DEFAULT);
        if !(1..=limit::PAGE_ITEMS_MAX).contains(&limit) {
            let max = limit::PAGE_ITEMS_MAX;
            return Err(Failure::invalid(format!("limit: expected 1 to {max}")));
        }
        Ok(limit)
    }

    /// The last item of the part before.
    pub(crate) fn after<T: FromStr>(&self) -> error::Result<Option<T>> {
        let parsed = self.page.as_deref().map(str::parse).transpose();
        parsed.map_err(|_| Failure::invalid("page: is not one that was given out"))
    }

    /// Whether a part was asked for at all.
    pub(crate) fn is_whole(&self) -> bool {
        self.limit.is_none() && self.page.is_none()
    }
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

/// A time in a request, or none.
pub(crate) fn moment(field: &str, text: Option<&str>) -> error::Result<Option<Timestamp>> {
    let parsed = text.map(Timestamp::parse).transpose();
    parsed.map_err(|invalid| Failure::invalid(format!("{field}: {}", invalid.why)))
}

/// Tells `null` (clear it) from absence (keep it).
pub(crate) fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}
