//! The blocks that change something. Each is one edit, decided where it is written: of any number of
//! appends at once none is lost, and none meets a record that went away after it was looked for.

use super::call::Call;
use super::error::{Outcome, says};
use super::place::MemoryId;
use super::record::{guid_of, new_path, places};
use super::render::Payload;
use super::targs::Targs;
use loci_engine::{Context, Error, Purpose};
use loci_model::edit::Separator;
use loci_model::query::{Direction, Filter, ListItem, ListOrder, ListQuery};
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, OnSame, Patch, StoreId, Timestamp, View,
    limit,
};
use serde_json::json;

/// Shown in the feed.
const REASON: &str = "kilroy";
/// What a record is that nobody said anything about.
const KIND_DEFAULT: &str = "observation";
/// Records looked at and removed in one step.
const STEP: usize = 1000;
const _: () = assert!(STEP <= limit::TREE_EDITS_MAX, "a step is one batch");

/// `memory_write`: always a new record.
pub(super) async fn write(call: &Call, targs: &Targs) -> Outcome<Payload> {
    let id = targs.memory_id()?;
    let Some(text) = call.message.text() else { return says("no content") };
    let attributes = described(call, targs, id)?;
    let store = to_write(call, id).await?;
    let edit = creation(call, text, attributes);
    let outcome = call.engine.commit_one(&call.context, store, edit, REASON).await?;
    Ok(Payload::json(&json!({ "guid": guid_of(&outcome.memory) })))
}

/// `memory_append`: to the record named, else to the first that fits, else to a new one.
pub(super) async fn append(call: &Call, targs: &Targs) -> Outcome<Payload> {
    let id = targs.memory_id()?;
    let Some(text) = call.message.text() else { return says("no content") };
    let attributes = described(call, targs, id)?;
    let filter = Filter {
        kind: targs.kind()?,
        scope: targs.scope()?,
        source: targs.source()?,
        ..Filter::default()
    };
    let guid = targs.text("guid")?;
    let store = to_write(call, id).await?;
    for at in guid.map(places).unwrap_or_default() {
        let edit = addition(at, Expect::Present, text, None);
        match call.engine.commit_one(&call.context, store, edit, REASON).await {
            Ok(outcome) => {
                let guid = guid_of(&outcome.memory);
                return Ok(Payload::json(&json!({ "guid": guid, "appended": true })));
            }
            Err(Error::NotFound("memory")) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let is_chosen = filter.kind.is_some() || filter.scope.is_some();
    let edit = match is_chosen {
        true => {
            let new = Some((new_path(&call.engine), attributes));
            addition(At::First(filter), Expect::Anything, text, new)
        }
        false => creation(call, text, attributes),
    };
    let outcome = call.engine.commit_one(&call.context, store, edit, REASON).await?;
    let guid = guid_of(&outcome.memory);
    Ok(Payload::json(&match outcome.is_created() {
        true => json!({ "guid": guid, "created": true }),
        false => json!({ "guid": guid, "appended": true }),
    }))
}

/// `memory_delete`: the record named by the configuration, else by the message, else all of a kind.
/// So a message of any text takes the place of a configured kind; that is how the block works.
pub(super) async fn delete(call: &Call, targs: &Targs) -> Outcome<Payload> {
    let id = targs.memory_id()?;
    let (guid, kind) = (targs.text("guid")?, targs.kind()?);
    let guid = guid.or(call.message.text());
    if guid.is_none() && kind.is_none() {
        return Ok(Payload::json(&json!({ "skipped": "no query" })));
    }
    let place = id.place(call.context.caller.principal)?;
    let store = call.engine.store_at(&call.context, &place, Purpose::Change).await?;
    let deleted = match (store, guid) {
        (None, _) => 0,
        (Some(store), Some(guid)) => usize::from(remove(call, store, guid).await?),
        (Some(store), None) => remove_kind(call, store, kind).await?,
    };
    Ok(Payload::json(&json!({ "deleted": deleted })))
}

async fn remove(call: &Call, store: StoreId, guid: &str) -> Outcome<bool> {
    for at in places(guid) {
        let edit = Edit::remove(at, Expect::Present);
        match call.engine.commit_one(&call.context, store, edit, REASON).await {
            Ok(_) => return Ok(true),
            Err(Error::NotFound("memory")) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Who may not take away what is there may not do it to what is not.
    call.engine.require_write(&call.context, store).await?;
    Ok(false)
}

/// Removes all of a kind that were there when this began, the oldest first; says how many.
async fn remove_kind(call: &Call, store: StoreId, kind: Option<String>) -> Outcome<usize> {
    // An idempotency key stands for one commit, and this may take many.
    let context = Context { idempotency: None, ..call.context.clone() };
    call.engine.require_write(&context, store).await?;
    let query = |direction, limit| ListQuery {
        order: ListOrder::Created,
        direction,
        filter: Filter { kind: kind.clone(), ..Filter::default() },
        ..ListQuery::everything(View::Basic, limit)
    };
    let newest = call.engine.list(&context, store, &query(Direction::Descending, 1)).await?;
    // What comes meanwhile stays: else this would never end beside a busy writer.
    let Some(newest) = newest.items.first().and_then(age) else { return Ok(0) };
    let mut query = query(Direction::Ascending, STEP);
    let mut removed = 0;
    loop {
        let page = call.engine.list(&context, store, &query).await?;
        let was_there = |item: &&ListItem| age(item).is_some_and(|age| age <= newest);
        let wanted = page.items.iter().filter(was_there).filter_map(|item| match item {
            // What is sealed is no record here, so nobody meant it.
            ListItem::Memory(memory) if !memory.is_sealed => Some(At::Id(memory.id)),
            ListItem::Memory(_) | ListItem::Directory(_) => None,
        });
        removed += remove_all(call, &context, store, wanted.collect()).await?;
        match page.next {
            Some(next) if page.items.last().as_ref().is_some_and(was_there) => {
                query.after = Some(next);
            }
            _ => return Ok(removed),
        }
    }
}

/// Where a record stands in the order in which they were made.
fn age(item: &ListItem) -> Option<(Timestamp, loci_model::MemoryId)> {
    match item {
        ListItem::Memory(memory) => Some((memory.created_at, memory.id)),
        ListItem::Directory(_) => None,
    }
}

async fn remove_all(
    call: &Call,
    context: &Context,
    store: StoreId,
    all: Vec<At>,
) -> Outcome<usize> {
    if all.is_empty() {
        return Ok(0);
    }
    let removal = |at: &At| Edit::remove(at.clone(), Expect::Present);
    let edits: Vec<Edit> = all.iter().map(removal).collect();
    match call.engine.commit_tree(context, store, edits, REASON).await {
        Ok(outcomes) => return Ok(outcomes.len()),
        // Somebody else removed one of them since they were listed.
        Err(Error::NotFound("memory")) => {}
        Err(error) => return Err(error.into()),
    }
    let mut removed = 0;
    for at in &all {
        match call.engine.commit_one(context, store, removal(at), REASON).await {
            Ok(_) => removed += 1,
            Err(Error::NotFound("memory")) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(removed)
}

async fn to_write(call: &Call, id: MemoryId<'_>) -> Outcome<StoreId> {
    let place = id.place(call.context.caller.principal)?;
    let store = call.engine.store_at(&call.context, &place, Purpose::Write).await?;
    Ok(store.ok_or(Error::NotFound("memory store"))?)
}

/// What a new record is described by.
fn described(call: &Call, targs: &Targs, id: MemoryId<'_>) -> Outcome<AttributesPatch> {
    let scope = targs.scope()?.unwrap_or_else(|| id.as_str().to_owned());
    let kind = targs.kind()?.unwrap_or_else(|| KIND_DEFAULT.to_owned());
    let sender = || call.message.sender().unwrap_or(call.block.name()).to_owned();
    let source = targs.source()?.unwrap_or_else(sender);
    Ok(AttributesPatch {
        kind: Patch::Set(Some(kind)),
        tags: Patch::Set(targs.tags()?),
        source: Patch::Set(Some(source)),
        scope: Patch::Set(Some(scope)),
        ..AttributesPatch::default()
    })
}

fn creation(call: &Call, text: &str, attributes: AttributesPatch) -> Edit {
    let content = Some(Content::Text(text.to_owned()));
    Edit {
        at: At::Path(None, new_path(&call.engine)),
        expect: Expect::Absent,
        on_same: OnSame::Skip,
        op: EditOp::Put { content, to: None, attributes },
    }
}

/// Text at the end of a record, with nothing between; `new` is what becomes of it when there is none.
fn addition(
    at: At,
    expect: Expect,
    text: &str,
    new: Option<(loci_model::MemoryPath, AttributesPatch)>,
) -> Edit {
    let (to, attributes) = match new {
        Some((path, attributes)) => (Some(path), attributes),
        None => (None, AttributesPatch::default()),
    };
    let (text, separator) = (text.to_owned(), Separator::default());
    Edit {
        at,
        expect,
        on_same: OnSame::Record,
        op: EditOp::Append { text, separator, to, attributes },
    }
}
