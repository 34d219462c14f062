//! `loci get`: a memory's content and nothing else, byte for byte.

use super::args::GetArgs;
use super::client::Client;
use super::find::{self, Extent};
use super::output::{Format, print_raw, text};
use crate::exit::Failure;
use loci_model::MemoryPath;
use serde_json::Value;

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &GetArgs,
) -> Result<(), Failure> {
    let path = find::path(&args.path)?;
    let store = find::store(client, &args.store).await?;
    let found = match &args.version {
        Some(version) => old(client, &store, &path, version).await?,
        None => {
            let memory = find::find_memory(client, &store, &path, Extent::WithContent).await?;
            memory.ok_or_else(|| not_there(&path))?
        }
    };
    let Some(content) = found["content"].as_str() else {
        return Err(Failure::failed(format!("the content of {path} is sealed")));
    };
    match format {
        Format::Json => format.show(&found, String::new),
        Format::Human => print_raw(content.as_bytes()),
    }
}

/// A version of the memory that is, or was, at the path.
async fn old(
    client: &mut Client,
    store: &str,
    path: &MemoryPath,
    id: &str,
) -> Result<Value, Failure> {
    let version = find::version(client, store, id).await?;
    if !version["redacted_at"].is_null() {
        return Err(Failure::not_found(format!("version {id} is redacted")));
    }
    if text(&version, "operation") == "deleted" {
        return Err(Failure::not_found(format!("version {id} is a deletion and has no content")));
    }
    if text(&version, "path") != path.as_str() {
        // The memory may have moved here since.
        let here = find::find_memory(client, store, path, Extent::WithoutContent).await?;
        if here.is_none_or(|memory| memory["id"] != version["memory_id"]) {
            return Err(Failure::not_found(format!("version {id} is of another memory")));
        }
    }
    Ok(version)
}

pub(super) fn not_there(path: &MemoryPath) -> Failure {
    Failure::not_found(format!("there is no memory at {path}"))
}
