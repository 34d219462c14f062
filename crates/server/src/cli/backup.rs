//! `loci backup` and `loci export`: large answers written to a new file. A file under its final name
//! is complete and on disk; until then it has another name.

use super::client::Client;
use super::output::{Format, Progress, human_bytes, print_raw};
use crate::exit::Failure;
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) async fn backup(client: &mut Client, format: Format, to: &Path) -> Result<(), Failure> {
    let folder = writable(to)?;
    let body = client.download("/v1/backup").await?;
    to_file(body, folder, to, format, "backup").await
}

pub(super) async fn export(client: &mut Client, format: Format, to: &Path) -> Result<(), Failure> {
    if to == Path::new("-") {
        let body = client.download("/v1/export").await?;
        return copy(body, "export", print_raw).await.map(drop);
    }
    let folder = writable(to)?;
    let body = client.download("/v1/export").await?;
    to_file(body, folder, to, format, "export").await
}

/// Refuses what cannot work before anything is asked for.
fn writable(to: &Path) -> Result<PathBuf, Failure> {
    if to.symlink_metadata().is_ok() {
        return Err(Failure::failed(format!("{} exists already", to.display())));
    }
    match to.parent() {
        Some(folder) if folder != Path::new("") => Ok(folder.to_owned()),
        _ => Ok(PathBuf::from(".")),
    }
}

async fn to_file(
    body: Body,
    folder: PathBuf,
    to: &Path,
    format: Format,
    name: &'static str,
) -> Result<(), Failure> {
    let cannot =
        |error: &std::io::Error| Failure::io(format_args!("cannot write {}", to.display()), error);
    let mut file = tempfile::Builder::new()
        .prefix(".loci-")
        .tempfile_in(&folder)
        .map_err(|error| cannot(&error))?;
    let bytes =
        copy(body, name, |chunk| file.write_all(chunk).map_err(|error| cannot(&error))).await?;
    file.as_file().sync_all().map_err(|error| cannot(&error))?;
    file.persist_noclobber(to).map_err(|error| cannot(&error.error))?;
    // The name is durable when its folder is.
    let synced = std::fs::File::open(&folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| cannot(&error))?;
    let done = json!({"type": name, "file": to.to_string_lossy(), "bytes": bytes});
    format.show(&done, || format!("{}  {}", to.display(), human_bytes(bytes)))
}

async fn copy(
    mut body: Body,
    name: &'static str,
    mut write: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut progress = Progress::start(name);
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| Failure::failed(format!("the {name} was cut off: {error}")))?;
        if let Ok(chunk) = frame.into_data() {
            write(&chunk)?;
            bytes += chunk.len() as u64;
            progress.advance(chunk.len());
        }
    }
    Ok(bytes)
}
