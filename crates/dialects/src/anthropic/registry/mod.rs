//! Agents and environments, as far as code written for the API needs them before it makes a session:
//! made and read. Nothing runs here; each is a record in an ordinary store of whoever made it, hidden
//! from models, one for the platform and one for every other principal that makes any.
//!
//! Agents have the paths of the Mobius door's agents. Requests are told apart by their beta header.

pub(super) mod agents;
pub(super) mod environments;

use super::call::{Answer, Call};
use super::error::Problem;
use super::sessions::resources::fresh_id;
use loci_engine::{Context, Error, Place, Purpose};
use loci_model::{
    Address, At, AttributesPatch, Audience, Content, Edit, EditOp, Expect, Memory, MemoryPath,
    OnSame, Patch, StorePolicy, View, Visibility, limit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Shown in the feed.
const REASON: &str = "api";
const NAME: &str = "managed";

/// A sort of record.
struct Sort {
    /// Where they are.
    folder: &'static str,
    /// What their ids begin with.
    prefix: &'static str,
    /// What a missing one is called.
    noun: &'static str,
}

/// Where a caller's records are.
fn place(context: &Context) -> Result<Place, Error> {
    let caller = context.caller.principal;
    Ok(Place {
        shared: Address::parse(NAME)?,
        own: Address::parse(&format!("{NAME}:{caller}"))?,
        name: "agents and environments".to_owned(),
        policy: StorePolicy {
            content_bytes_max: limit::SESSION_DETAILS_BYTES_MAX as u64,
            ..StorePolicy::default()
        },
    })
}

/// The caller as the keeper of its records: they are hidden from models, and a model's key made them all
/// the same.
fn keeper(call: &Call) -> Context {
    let mut keeper = call.context.clone();
    keeper.caller.audience = Audience::Host;
    keeper
}

/// Keeps a record under an id of its own, and reads it back: a repeated request gets the first one's.
async fn make<T: Serialize>(
    call: &Call,
    sort: &Sort,
    record: impl FnOnce(String) -> Result<T, Problem>,
) -> Result<Memory, Problem> {
    let id = fresh_id(&call.engine, sort.prefix, call.engine.seams().now());
    let path = MemoryPath::parse(&format!("{}/{id}", sort.folder)).map_err(Error::from)?;
    let text = serde_json::to_string(&record(id)?).expect("records have string keys");
    let keeper = keeper(call);
    let place = place(&keeper)?;
    let store = call.engine.store_at(&keeper, &place, Purpose::Write).await?;
    let store =
        store.ok_or_else(|| Error::Internal("a place that was made is not there".into()))?;
    let attributes = AttributesPatch {
        visibility: Patch::Set(Visibility::Internal),
        media_type: Patch::Set(Some("application/json".to_owned())),
        ..AttributesPatch::default()
    };
    let edit = Edit {
        at: At::Path(None, path),
        expect: Expect::Absent,
        on_same: OnSame::Skip,
        op: EditOp::Put { content: Some(Content::Text(text)), to: None, attributes },
    };
    let made = call.engine.commit_one(&keeper, store, edit, REASON).await?;
    let at = At::Id(made.memory.id);
    Ok(call.engine.get(&keeper, store, &at, View::Full).await?)
}

/// The record of an id; `None` when the caller has none of it.
async fn find(call: &Call, sort: &Sort, id: &str) -> Result<Option<Memory>, Error> {
    let Ok(path) = MemoryPath::parse(&format!("{}/{id}", sort.folder)) else { return Ok(None) };
    if !id.starts_with(sort.prefix) || id.contains('/') {
        return Ok(None);
    }
    let keeper = keeper(call);
    let place = place(&keeper)?;
    let store = match call.engine.store_at(&keeper, &place, Purpose::Read).await {
        Ok(Some(store)) => store,
        // A session has none, nor has who may not look.
        Ok(None) | Err(Error::Denied(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    match call.engine.get(&keeper, store, &At::Path(None, path), View::Full).await {
        Ok(memory) => Ok(Some(memory)),
        Err(Error::NotFound(_) | Error::Denied(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a record says; nothing if another door wrote something else there.
fn read<T: DeserializeOwned>(memory: &Memory) -> Option<T> {
    serde_json::from_str(memory.content.as_ref()?.text()?).ok()
}

/// Refuses what this server does not do with agents.
pub(super) async fn unknown(_: Call) -> Answer {
    Err(Error::NotFound("endpoint").into())
}
