//! `loci get`: a memory's content and nothing else, byte for byte. Sealed content is opened here, with
//! keys that stay here.

use super::args::GetArgs;
use super::client::Client;
use super::find::{self, Extent};
use super::output::{Format, print_raw, text};
use super::seal::{self, OpenArgs, Unlock};
use crate::exit::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use loci_model::MemoryPath;
use serde_json::{Value, json};

pub(super) async fn run(
    client: &mut Client,
    format: Format,
    args: &GetArgs,
) -> Result<(), Failure> {
    let path = find::path(&args.path)?;
    let unlock = Unlock::given(&args.open)?;
    let store = find::store(client, &args.store).await?;
    let mut found = match &args.version {
        Some(version) => old(client, &store, &path, version).await?,
        None => {
            let memory = find::find_memory(client, &store, &path, Extent::WithContent).await?;
            memory.ok_or_else(|| not_there(&path))?
        }
    };
    let content = match found["content"].as_str() {
        Some(text) => readable(text, &path, unlock.as_ref(), &args.open)?,
        None => {
            if unlock.is_none() && !args.open.sealed {
                return Err(Failure::failed(format!(
                    "the content of {path} is sealed; open it with --open-with IDENTITY_FILE, or print \
                     it as it is with --sealed"
                )));
            }
            let (memory, version) = match text(&found, "type") {
                "memory_version" => (text(&found, "memory_id"), text(&found, "id")),
                _ => (text(&found, "id"), text(&found, "memory_version_id")),
            };
            let sealed = seal::fetch(client, &store, memory, version).await?;
            match unlock {
                Some(unlock) => unlock.open(&sealed, path.as_str())?,
                None => sealed.to_vec(),
            }
        }
    };
    match format {
        Format::Human => print_raw(&content),
        Format::Json => {
            add(&mut found, &content, args.open.sealed);
            format.show(&found, String::new)
        }
    }
}

/// Text to print. It may be armoured: then it was sealed by somebody who keeps it as text.
fn readable(
    text: &str,
    path: &MemoryPath,
    unlock: Option<&Unlock>,
    open: &OpenArgs,
) -> Result<Vec<u8>, Failure> {
    match unlock {
        Some(unlock) if Unlock::is_armoured(text) => unlock.open(text.as_bytes(), path.as_str()),
        // Whoever asks for sealed content relies on where it came from.
        Some(_) => Err(Failure::failed(format!(
            "the content of {path} is not sealed; read it without --open-with"
        ))),
        None if open.sealed && !Unlock::is_armoured(text) => {
            Err(Failure::failed(format!("the content of {path} is not sealed")))
        }
        None => Ok(text.as_bytes().to_vec()),
    }
}

/// Puts what was read into the object that is shown.
fn add(found: &mut Value, content: &[u8], is_as_kept: bool) {
    match std::str::from_utf8(content) {
        _ if is_as_kept => found["sealed_base64"] = json!(BASE64.encode(content)),
        Ok(text) => found["content"] = json!(text),
        Err(_) => found["content_base64"] = json!(BASE64.encode(content)),
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
