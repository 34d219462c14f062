//! `loci put`: writes a memory, making or replacing what is at the path.
//!
//! What is to be sealed is sealed before any place is reached, so that nothing past this file ever has
//! it in the clear.

use super::args::PutArgs;
use super::client::{Client, Refused};
use super::find::{self, Extent, encode, store_url};
use super::output::{Format, number_or_dash, say, text};
use super::seal::{self, Lock};
use crate::exit::{Exit, Failure};
use hyper::StatusCode;
use loci_model::{Content, MemoryPath, limit};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, IsTerminal, Read};

/// How often a memory may be made and removed by others under our hands.
const ATTEMPTS: usize = 5;

/// Reads what is to be written. Done before the directory is taken: standard input may take its
/// time, and nobody else should have to wait for it.
pub(super) fn content(args: &PutArgs) -> Result<Content, Failure> {
    let lock = Lock::given(&args.seal)?;
    let bytes = plain(args)?;
    match lock {
        Some(lock) => Ok(Content::Sealed(lock.seal(&bytes)?)),
        None => match String::from_utf8(bytes) {
            Ok(text) => Ok(Content::Text(text)),
            Err(_) => Err(Failure::failed("content is not UTF-8 text")),
        },
    }
}

fn plain(args: &PutArgs) -> Result<Vec<u8>, Failure> {
    if let Some(text) = &args.text {
        return Ok(text.clone().into_bytes());
    }
    let read = match &args.file {
        Some(path) => File::open(path).and_then(read),
        None => {
            if io::stdin().is_terminal() {
                say("reading the content from the terminal; end it with Ctrl-D");
            }
            read(io::stdin().lock())
        }
    };
    let bytes = read.map_err(|error| {
        let from =
            args.file.as_ref().map_or("standard input".into(), |path| path.to_string_lossy());
        Failure::io(format_args!("cannot read {from}"), &error)
    })?;
    if bytes.len() > limit::CONTENT_BYTES_MAX {
        return Err(Failure::failed(format!("content is over {} bytes", limit::CONTENT_BYTES_MAX)));
    }
    Ok(bytes)
}

fn read(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit::CONTENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &PutArgs,
    content: &Content,
) -> Result<(), Failure> {
    let path = find::path(&args.path)?;
    let store = match find::find_store(client, &args.store).await? {
        Some(store) => store,
        None if args.create_store => {
            let made = client.post("/v1/memory_stores", &json!({"name": args.store})).await?;
            text(&made, "id").to_owned()
        }
        None => return Err(Failure::not_found(format!("memory store {:?} not found", args.store))),
    };
    let memory = match (content, &args.if_digest) {
        (Content::Sealed(sealed), digest) => {
            seal::write(client, &store, &path, sealed, digest.as_deref()).await?
        }
        (Content::Text(text), None) => write(client, &store, &path, text).await?,
        (Content::Text(text), Some(digest)) => replace(client, &store, &path, text, digest).await?,
    };
    show(format, &memory)
}

pub(super) fn show(format: Format, memory: &Value) -> Result<(), Failure> {
    format.show(memory, || {
        let size = number_or_dash(memory, "content_size_bytes");
        let (path, version) = (text(memory, "path"), text(memory, "memory_version_id"));
        format!("{path}  {size} bytes  {version}")
    })
}

/// Creates, and where something is already, updates it.
pub(super) async fn write(
    client: &mut Client,
    store: &str,
    path: &MemoryPath,
    content: &str,
) -> Result<Value, Failure> {
    let memories = format!("{}/memories", store_url(store));
    let new = json!({"path": path.as_str(), "content": content});
    for _ in 0..ATTEMPTS {
        let refused = match client.post(&memories, &new).await {
            Ok(memory) => return Ok(memory),
            Err(refused) => refused,
        };
        let Some(memory) = occupant(&refused, path) else { return Err(taken(refused)) };
        let url = format!("{memories}/{}", encode(memory));
        match client.post(&url, &json!({"content": content})).await {
            // It was removed in between: then it can be made.
            Err(refused) if refused.is(StatusCode::NOT_FOUND) => {}
            other => return Ok(other?),
        }
    }
    Err(Failure::new(Exit::Conflict, "the memory is made and removed all the time; try again"))
}

/// The memory that is exactly where a new one was to be.
fn occupant<'a>(refused: &'a Refused, path: &MemoryPath) -> Option<&'a str> {
    let is_here = refused.detail("conflicting_path") == Some(path.as_str());
    refused.detail("conflicting_memory_id").filter(|id| is_here && !id.is_empty())
}

/// Says which path is in the way of one that lies above or below it.
fn taken(refused: Refused) -> Failure {
    match refused.detail("conflicting_path") {
        Some(path) => {
            let message =
                format!("there is a memory at {path}, and nothing can be above or below it");
            Failure::new(Exit::Conflict, message)
        }
        None => refused.into(),
    }
}

/// Updates what is there if it is what the caller saw.
async fn replace(
    client: &mut Client,
    store: &str,
    path: &MemoryPath,
    content: &str,
    digest: &str,
) -> Result<Value, Failure> {
    let found = find::find_memory(client, store, path, Extent::WithoutContent).await?;
    let Some(memory) = found else {
        return Err(Failure::new(Exit::Conflict, format!("there is no memory at {path}")));
    };
    let url = format!("{}/memories/{}", store_url(store), encode(text(&memory, "id")));
    let precondition = json!({"type": "content_sha256", "content_sha256": digest});
    let body = json!({"content": content, "precondition": precondition});
    Ok(client.post(&url, &body).await?)
}
