//! `loci ingest`: documents into a store, or into what an oracle knows, piece by piece. Ingesting a
//! document again replaces it: what is the same stays, what it no longer says goes.

mod chunks;
pub(super) mod pdf;
mod read;

use super::args::IngestArgs;
use super::client::Client;
use super::find::{self, store_url};
use super::output::{Format, Progress, text};
use crate::exit::Failure;
use serde_json::{Value, json};
use std::path::Path;

/// Pieces sent at once.
const AT_ONCE: usize = 200;
/// Pieces of one document.
const PIECES_MAX: usize = 20_000;

/// Where documents go and as what.
struct Target {
    store: String,
    kind: &'static str,
    visibility: &'static str,
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &IngestArgs,
) -> Result<(), Failure> {
    let target = target(client, args).await?;
    let mut done = Vec::with_capacity(args.files.len());
    for file in &args.files {
        done.push(one(client, &target, file).await?);
    }
    let document = json!({"type": "ingest", "memory_store_id": target.store, "documents": done});
    format.show(&document, || {
        let count = |one: &Value, name: &str| one[name].as_u64().unwrap_or_default();
        let line = |one: &Value| {
            let (written, unchanged) = (count(one, "written"), count(one, "unchanged"));
            let removed = count(one, "removed");
            let name = text(one, "document");
            format!("{name}  {written} written, {unchanged} unchanged, {removed} removed\n")
        };
        done.iter().map(line).collect()
    })
}

async fn target(client: &mut Client, args: &IngestArgs) -> Result<Target, Failure> {
    let visibility = if args.private { "internal" } else { "context" };
    if let Some(oracle) = &args.oracle {
        let made = client.post("/v1/oracle_knowledge", &json!({"oracle": oracle})).await?;
        let store = text(&made, "memory_store_id").to_owned();
        return Ok(Target { store, kind: "episode", visibility });
    }
    let Some(named) = &args.store else {
        return Err(Failure::usage("ingest takes --store STORE or --oracle DID"));
    };
    let store = match find::find_store(client, named).await? {
        Some(store) => store,
        None if args.create_store => {
            let made = client.post("/v1/memory_stores", &json!({"name": named})).await?;
            text(&made, "id").to_owned()
        }
        None => return Err(Failure::not_found(format!("memory store {named:?} not found"))),
    };
    Ok(Target { store, kind: "document", visibility })
}

async fn one(client: &mut Client, target: &Target, file: &Path) -> Result<Value, Failure> {
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || read::read(&path)).await;
    let (text, markup) =
        read.map_err(|error| Failure::failed(format!("reading failed: {error}")))??;
    let pieces = chunks::chunks(&text, markup);
    let name = name(file)?;
    if pieces.is_empty() {
        return Err(Failure::failed(format!("there is no text in {}", file.display())));
    }
    if pieces.len() > PIECES_MAX {
        let count = pieces.len();
        let why = format!("{} has {count} pieces, limit {PIECES_MAX}", file.display());
        return Err(Failure::failed(why));
    }
    let url = format!("{}/documents", store_url(&target.store));
    let mut progress = Progress::start("ingesting");
    let (mut written, mut unchanged, mut removed) = (0, 0, 0);
    for (batch, texts) in pieces.chunks(AT_ONCE).enumerate() {
        let first = batch * AT_ONCE + 1;
        let body = json!({
            "document": name, "first": first, "total": pieces.len(), "pieces": texts,
            "kind": target.kind, "visibility": target.visibility,
        });
        let done = client.post(&url, &body).await?;
        let count = |name: &str| done[name].as_u64().unwrap_or_default();
        written += count("written");
        unchanged += count("unchanged");
        removed += count("removed");
        progress.say(|| format!("{name}: {} of {} pieces", first - 1 + texts.len(), pieces.len()));
    }
    Ok(json!({
        "document": name, "pieces": pieces.len(),
        "written": written, "unchanged": unchanged, "removed": removed,
    }))
}

/// What a document is called: its path as it was given, without ways up.
fn name(file: &Path) -> Result<String, Failure> {
    let parts = file.components().filter_map(|part| match part {
        std::path::Component::Normal(part) => Some(part.to_str()),
        _ => None,
    });
    let parts: Option<Vec<&str>> = parts.collect();
    parts
        .filter(|parts| !parts.is_empty())
        .map(|parts| parts.join("/"))
        .ok_or_else(|| Failure::failed(format!("{} has a name that is not UTF-8", file.display())))
}
