//! A store's switches: all are shown; what becomes of repeated content, and how many memories it
//! should hold, can be changed.

use super::Native;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Id, JsonBody};
use axum::Json;
use axum::extract::State;
use loci_model::StoreId;
use loci_model::store::{OnRemove, Partitioning, PolicyPatch, Repeats, Store, Who};
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What becomes of a new memory whose content the store has already.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Repeats)]
pub(crate) enum RepeatsName {
    /// It is kept like any other.
    Allow,
    /// It is refused.
    Refuse,
    /// Nothing is written; the writer gets the memory that is there.
    Merge,
}

/// How a store's memories are kept apart.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Partitioning)]
pub(crate) enum PartitioningName {
    /// One path, one memory.
    None,
    /// Each owner has its own paths.
    ByOwner,
}

/// Who may do a thing that not everybody with write access may do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Who)]
pub(crate) enum WhoName {
    /// Anybody who may write.
    Writer,
    /// Only the owner.
    Owner,
}

/// What becomes of the history of a removed memory.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = OnRemove)]
pub(crate) enum OnRemoveView {
    /// It stays.
    KeepHistory,
    /// It is erased.
    EraseAfter {
        /// This many seconds later.
        seconds: u32,
    },
}

/// A change of a store's switches.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = StorePolicyRequest)]
pub(crate) struct PolicyRequest {
    /// What becomes of a new memory whose content the store has already; stays when not given.
    repeats: Option<RepeatsName>,
    /// How many memories the store should hold: more are compacted. Null is any number; stays when
    /// not given.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    soft_cap: Option<Option<u64>>,
}

/// Tells null from nothing.
fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// A store's switches.
#[derive(Serialize, ToSchema)]
#[schema(as = StorePolicy)]
pub(crate) struct PolicyView {
    /// Always `memory_store_policy`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The store.
    memory_store_id: String,
    /// What becomes of a new memory whose content the store has already.
    repeats: RepeatsName,
    /// How memories are kept apart; fixed.
    partitioning: PartitioningName,
    /// Who may remove a memory; fixed.
    remove: WhoName,
    /// Who may share the store; fixed.
    share: WhoName,
    /// What becomes of the history of a removed memory; fixed.
    on_remove: OnRemoveView,
    /// Bytes of one content; fixed.
    content_bytes_max: u64,
    /// Live memories; fixed.
    memories_max: u64,
    /// How many memories the store should hold; null is any number.
    soft_cap: Option<u64>,
}

impl From<Store> for PolicyView {
    fn from(store: Store) -> Self {
        let policy = store.policy;
        Self {
            kind: "memory_store_policy",
            memory_store_id: store.id.to_string(),
            repeats: match policy.repeats {
                Repeats::Allow => RepeatsName::Allow,
                Repeats::Refuse => RepeatsName::Refuse,
                Repeats::Merge => RepeatsName::Merge,
            },
            partitioning: match policy.partitioning {
                Partitioning::None => PartitioningName::None,
                Partitioning::ByOwner => PartitioningName::ByOwner,
            },
            remove: policy.remove.into(),
            share: policy.share.into(),
            on_remove: match policy.on_remove {
                OnRemove::KeepHistory => OnRemoveView::KeepHistory,
                OnRemove::EraseAfter { secs } => OnRemoveView::EraseAfter { seconds: secs },
            },
            content_bytes_max: policy.content_bytes_max,
            memories_max: policy.memories_max,
            soft_cap: policy.soft_cap,
        }
    }
}

impl From<Who> for WhoName {
    fn from(who: Who) -> Self {
        match who {
            Who::Writer => Self::Writer,
            Who::Owner => Self::Owner,
        }
    }
}

impl From<RepeatsName> for Repeats {
    fn from(name: RepeatsName) -> Self {
        match name {
            RepeatsName::Allow => Self::Allow,
            RepeatsName::Refuse => Self::Refuse,
            RepeatsName::Merge => Self::Merge,
        }
    }
}

/// A store's switches.
#[utoipa::path(get, path = "/v1/memory_stores/{memory_store_id}/policy",
    tag = "policy", operation_id = "policy_retrieve",
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = PolicyView)))]
pub(crate) async fn show(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
) -> Result<Json<PolicyView>> {
    Ok(Json(native.engine.store(&context, store).await?.into()))
}

/// Changes what becomes of repeated content, and how many memories the store should hold.
#[utoipa::path(post, path = "/v1/memory_stores/{memory_store_id}/policy",
    tag = "policy", operation_id = "policy_update", request_body = PolicyRequest,
    params(("memory_store_id" = String, Path)),
    responses((status = 200, body = PolicyView)))]
pub(crate) async fn change(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Id(store): Id<StoreId>,
    JsonBody(wanted): JsonBody<PolicyRequest>,
) -> Result<Json<PolicyView>> {
    if wanted.repeats.is_none() && wanted.soft_cap.is_none() {
        return Err(Failure::invalid("repeats or soft_cap is needed"));
    }
    let patch = PolicyPatch {
        repeats: wanted.repeats.map(Repeats::from).into(),
        soft_cap: wanted.soft_cap.into(),
    };
    let store = native.engine.set_policy(&context, store, patch).await?;
    Ok(Json(store.into()))
}
