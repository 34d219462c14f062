//! One request as the engine sees it: who asks, which request it is, and the caller's idempotency
//! key. Doors get it from the authentication layer and pass it on untouched.

use crate::Result;
use loci_model::{Actor, Caller, Cause, RequestId, Timestamp};
use loci_storage::Idempotency;
use std::sync::Arc;

/// A caller's promise that requests with the same key are the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The key.
    pub key: String,
    /// A digest of method, path and body.
    pub fingerprint: [u8; 32],
}

/// Who asks, and in which request.
#[derive(Debug, Clone)]
pub struct Context {
    /// Who.
    pub caller: Caller,
    /// Which request.
    pub request: RequestId,
    /// The idempotency key, when the caller sent one.
    pub idempotency: Option<IdempotencyKey>,
}

impl Context {
    pub(crate) fn idempotency_at(&self, now: Timestamp) -> Option<Idempotency> {
        self.idempotency.as_ref().map(|given| Idempotency {
            workspace: self.caller.workspace,
            scope: match self.caller.actor {
                Actor::Session(id) => id.as_u128(),
                Actor::Key(id) => id.as_u128(),
                Actor::User(id) | Actor::Service(id) => id.as_u128(),
                Actor::System => 0,
            },
            key: given.key.clone(),
            fingerprint: given.fingerprint,
            now,
        })
    }

    pub(crate) fn cause(&self, reason: &str) -> Cause {
        Cause::new(Some(self.request.to_string()), reason)
    }
}

/// What a client appended to its key, for the door that knows what it means. It gives no right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended(pub Arc<str>);

/// What authentication leaves on a request for the doors: the context, or why there is none. Each
/// door shows a refusal in its own words.
#[derive(Debug, Clone)]
pub struct Identified(pub Arc<Result<Context>>);
