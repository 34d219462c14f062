//! `memory_write`, `memory_edit` and `memory_forget`: what changes memories. Each is one edit in one
//! commit. Where each owner has its own paths, a path means what a reader sees there, and nothing
//! there means the caller's own.

use super::{Call, REASON};
use crate::arguments::Arguments;
use crate::place;
use crate::trouble::Trouble;
use loci_engine::{Error, Purpose};
use loci_model::edit::{Occurrence, Separator};
use loci_model::{
    At, AttributesPatch, Content, Edit, EditOp, Expect, MemoryPath, OnSame, Outcome, StoreId, View,
    limit,
};

const VERSION: &str = "if_version";
/// Between the old end of a memory and what is added.
const PARAGRAPH: &str = "\n";

pub(super) async fn write(call: &Call<'_>) -> Result<String, Trouble> {
    let known = ["path", "content", "store", "if_exists", VERSION];
    let arguments = Arguments::of(call.given, &known)?;
    let path = arguments.path()?;
    let content = arguments.needed("content", limit::CONTENT_BYTES_MAX)?;
    let store = arguments.store()?;
    let version = arguments.number(VERSION, 1..=u64::MAX)?;
    let if_exists = arguments.text("if_exists", 16)?.unwrap_or("replace");
    let expect = match (if_exists, version) {
        ("replace", None) => Expect::Anything,
        ("replace", Some(version)) => Expect::Revision(version),
        ("fail", None) => Expect::Absent,
        ("fail", Some(_)) => {
            return Err(Trouble::call("if_exists fail and if_version exclude each other"));
        }
        _ => return Err(Trouble::call("if_exists takes replace or fail")),
    };
    let store = place::to_write(call.engine, call.context, store).await?;
    let at = match expect {
        Expect::Absent => At::Path(None, path.clone()),
        _ => seen(call, store, &path).await?.unwrap_or(At::Path(None, path.clone())),
    };
    let op = EditOp::Put {
        content: Some(Content::Text(content.to_owned())),
        to: None,
        attributes: AttributesPatch::default(),
    };
    let edit = Edit { at, expect, on_same: OnSame::Skip, op };
    match call.engine.commit_one(call.context, store, edit, REASON).await {
        Ok(outcome) => Ok(told(&outcome)),
        Err(Error::PathTaken { path: taken, .. }) if if_exists == "fail" && taken == path => {
            let why =
                format!("there is a memory at {path} already; read it, then write or edit it");
            Err(Trouble::call(why))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn edit(call: &Call<'_>) -> Result<String, Trouble> {
    let known = ["path", "old_text", "new_text", "append", "store", VERSION];
    let arguments = Arguments::of(call.given, &known)?;
    let path = arguments.path()?;
    let store = arguments.store()?;
    let old = arguments.text("old_text", limit::CONTENT_BYTES_MAX)?;
    let new = arguments.text("new_text", limit::CONTENT_BYTES_MAX)?;
    let append = arguments.text("append", limit::CONTENT_BYTES_MAX)?;
    let version = arguments.number(VERSION, 1..=u64::MAX)?;
    let expect = version.map_or(Expect::Anything, Expect::Revision);
    let (op, purpose) = match (old, new, append) {
        (Some(""), _, None) => return Err(Trouble::call("old_text must not be empty")),
        (Some(old), new, None) => {
            let new = new.unwrap_or_default().to_owned();
            let op = EditOp::Replace { old: old.to_owned(), new, which: Occurrence::Only };
            (op, Purpose::Change)
        }
        (None, None, Some(text)) => {
            let op = EditOp::Append {
                text: text.to_owned(),
                separator: Separator::Always(PARAGRAPH.to_owned()),
                to: None,
                attributes: AttributesPatch::default(),
            };
            (op, Purpose::Write)
        }
        _ => return Err(Trouble::call("give either old_text and new_text, or append")),
    };
    let store = place::find(call.engine, call.context, store, purpose).await?;
    let store = store.ok_or(Error::NotFound("memory"))?;
    let at = match (seen(call, store, &path).await?, &op) {
        (Some(at), _) => at,
        (None, EditOp::Append { .. }) => At::Path(None, path),
        (None, _) => return Err(Error::NotFound("memory").into()),
    };
    let edit = Edit { at, expect, on_same: OnSame::Skip, op };
    Ok(told(&call.engine.commit_one(call.context, store, edit, REASON).await?))
}

pub(super) async fn forget(call: &Call<'_>) -> Result<String, Trouble> {
    let arguments = Arguments::of(call.given, &["path", "store", VERSION])?;
    let path = arguments.path()?;
    let store = arguments.store()?;
    let version = arguments.number(VERSION, 1..=u64::MAX)?;
    let expect = version.map_or(Expect::Anything, Expect::Revision);
    let store = place::find(call.engine, call.context, store, Purpose::Change).await?;
    let store = store.ok_or(Error::NotFound("memory"))?;
    let at = seen(call, store, &path).await?.unwrap_or(At::Path(None, path));
    let edit = Edit::remove(at, expect);
    let outcome = call.engine.commit_one(call.context, store, edit, REASON).await?;
    Ok(format!("Forgot {}.", outcome.memory.path))
}

/// The memory that a reader sees at a path.
async fn seen(call: &Call<'_>, store: StoreId, path: &MemoryPath) -> Result<Option<At>, Trouble> {
    let at = At::Path(None, path.clone());
    match call.engine.get(call.context, store, &at, View::Basic).await {
        Ok(memory) => Ok(Some(At::Id(memory.id))),
        Err(Error::NotFound("memory")) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn told(outcome: &Outcome) -> String {
    let memory = &outcome.memory;
    let did = match outcome.operation {
        None => "It said so already",
        Some(_) if outcome.is_created() => "Made",
        Some(_) => "Changed",
    };
    format!("{did}: {} (version {}, {} bytes)", memory.path, memory.revision, memory.size_bytes)
}
