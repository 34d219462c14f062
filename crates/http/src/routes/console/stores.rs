//! All stores at one glance, and the names of what ids stand for.

use super::WhoView;
use crate::error::{Failure, Result};
use crate::extract::{Authed, Params};
use crate::routes::Native;
use crate::routes::access::{reach_name, rule_name};
use crate::routes::principals::{KindName, kind_name};
use crate::wire::{ActorView, time};
use axum::Json;
use axum::extract::State;
use loci_engine::{NAMES_MAX, Named, Sort, StoreGlance};
use loci_model::{Principal, Store};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// One store at a glance.
#[derive(Serialize, ToSchema)]
pub(crate) struct StoreRow {
    /// The store.
    memory_store_id: String,
    /// Its name; its id for who may only search, who is told no more about it than how far they reach.
    name: String,
    /// What it is for; empty for who may only search, like what follows.
    description: String,
    /// Its labels.
    metadata: BTreeMap<String, String>,
    /// Since when.
    created_at: String,
    /// Since when it is only read.
    archived_at: Option<String>,
    /// Whose it is.
    owner: Option<WhoView>,
    /// What sort of owner has its home here.
    home_of: Option<KindName>,
    /// How far the caller reaches: `search`, `read`, `readwrite` or `owner`.
    level: &'static str,
    /// By which rule.
    rule: Option<&'static str>,
    /// Live memories; this and what follows is `null` for who may only search.
    memories: Option<u64>,
    /// Bytes of live content.
    content_bytes: Option<u64>,
    /// Versions, redacted ones included.
    versions: Option<u64>,
    /// The newest number of the feed.
    last_seq: Option<u64>,
    /// Live memories by kind; those without one are counted under the empty word.
    by_kind: Option<BTreeMap<String, u64>>,
    /// When it last changed.
    changed_at: Option<String>,
    /// By whom.
    changed_by: Option<ActorView>,
    /// Changes on each of the last seven days (UTC), today last.
    days: Option<Vec<u64>>,
}

impl From<StoreGlance> for StoreRow {
    fn from(glance: StoreGlance) -> Self {
        let store = match glance.numbers {
            Some(_) => glance.store,
            None => unread(glance.store),
        };
        let numbers = glance.numbers.as_ref();
        let about = |owner: Option<Principal>| owner.filter(|_| numbers.is_some());
        let (owner, home_of) = (about(glance.owner), glance.home_of.filter(|_| numbers.is_some()));
        let last = numbers.and_then(|numbers| numbers.last.as_ref());
        Self {
            memory_store_id: store.id.to_string(),
            name: store.name,
            description: store.description,
            metadata: store.metadata,
            created_at: store.created_at.to_string(),
            archived_at: time(store.archived_at),
            owner: owner.as_ref().map(WhoView::from),
            home_of: home_of.map(KindName::from),
            level: reach_name(glance.reach),
            rule: glance.rule.map(rule_name),
            memories: numbers.map(|numbers| numbers.stats.memories),
            content_bytes: numbers.map(|numbers| numbers.stats.content_bytes),
            versions: numbers.map(|numbers| numbers.stats.versions),
            last_seq: numbers.map(|numbers| numbers.stats.last_seq),
            by_kind: numbers.map(|numbers| {
                let kinds = numbers.by_kind.iter();
                kinds.map(|(kind, count)| (kind.clone().unwrap_or_default(), *count)).collect()
            }),
            changed_at: last.map(|change| change.at.to_string()),
            changed_by: last.and_then(|change| ActorView::of(change.actor)),
            days: numbers.map(|numbers| numbers.days.to_vec()),
        }
    }
}

/// A store as it is for who may only search it: an id, which says when it was made.
fn unread(store: Store) -> Store {
    Store {
        name: store.id.to_string(),
        description: String::new(),
        metadata: BTreeMap::new(),
        archived_at: None,
        ..store
    }
}

/// The stores.
#[derive(Serialize, ToSchema)]
pub(crate) struct StoreRows {
    /// Those that changed last first.
    data: Vec<StoreRow>,
    /// Whether there are more than these.
    is_truncated: bool,
}

/// Every store that the caller may at least search, with what is in it.
#[utoipa::path(get, path = "/console/stores", tag = "console", operation_id = "console_stores",
    responses((status = 200, body = StoreRows)))]
pub(crate) async fn list(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
) -> Result<Json<StoreRows>> {
    let (glances, is_truncated) = native.engine.glance(&context).await?;
    Ok(Json(StoreRows { data: glances.into_iter().map(StoreRow::from).collect(), is_truncated }))
}

/// Which ids.
#[derive(Deserialize)]
pub(crate) struct NamesParams {
    ids: String,
}

/// What an id stands for.
#[derive(Serialize, ToSchema)]
pub(crate) struct NamedView {
    /// What it is called.
    name: String,
    /// `user`, `agent`, `service`, `group`, `session` or `memory_store`.
    kind: &'static str,
    /// On whose authority it acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
    /// What the key is called, of a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl From<Named> for NamedView {
    fn from(named: Named) -> Self {
        Self {
            name: named.name,
            kind: match named.sort {
                Sort::Principal(kind) => kind_name(kind),
                Sort::Session => "session",
                Sort::Store => "memory_store",
            },
            principal: named.principal.map(|principal| principal.to_string()),
            key: named.key,
        }
    }
}

/// What ids stand for.
#[derive(Serialize, ToSchema)]
pub(crate) struct Names {
    /// By id; what the caller may not know is left out.
    data: BTreeMap<String, NamedView>,
}

/// Who and what ids are, as far as the caller may know.
#[utoipa::path(get, path = "/console/names", tag = "console", operation_id = "console_names",
    params(("ids" = String, Query, description = "Up to 200, comma-separated: of keys, \
        principals, users, service accounts, sessions and stores.")),
    responses((status = 200, body = Names)))]
pub(crate) async fn names(
    State(native): State<Arc<Native>>,
    Authed(context): Authed,
    Params(params): Params<NamesParams>,
) -> Result<Json<Names>> {
    let ids: Vec<&str> = params.ids.split(',').filter(|id| !id.is_empty()).collect();
    if ids.len() > NAMES_MAX {
        return Err(Failure::invalid(format!("ids: at most {NAMES_MAX}")));
    }
    let names = native.engine.names(&context, &ids).await?;
    let data = names.into_iter().map(|(id, named)| (id, named.into())).collect();
    Ok(Json(Names { data }))
}
