//! `loci backup` and `loci export`: large answers written to a new file. A file under its final name
//! is complete and on disk; until then it has another name.

use super::client::Client;
use super::output::{Format, Progress, human_bytes, plain, print_raw, say};
use crate::exit::Failure;
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) async fn backup(client: &mut Client, format: Format, to: &Path) -> Result<(), Failure> {
    let folder = writable(to)?;
    let body = client.download("/v1/backup").await?;
    to_file(body, folder, to, format, ("backup", |_: &[u8]| {})).await
}

/// Fails when something is damaged: what is not is in the export all the same.
pub(super) async fn export(client: &mut Client, format: Format, to: &Path) -> Result<(), Failure> {
    let mut damaged = DamagedLines::default();
    if to == Path::new("-") {
        let body = client.download("/v1/export").await?;
        let write = |chunk: &[u8]| {
            damaged.take(chunk);
            print_raw(chunk)
        };
        copy(body, "export", write).await?;
        return damaged.report();
    }
    let folder = writable(to)?;
    let body = client.download("/v1/export").await?;
    to_file(body, folder, to, format, ("export", |chunk: &[u8]| damaged.take(chunk))).await?;
    damaged.report()
}

/// The lines of an export that name what is damaged, found while they pass.
#[derive(Default)]
struct DamagedLines {
    /// The beginning of the line that is passing, as far as it says what it is.
    line: Vec<u8>,
    found: Vec<String>,
    count: u64,
}

impl DamagedLines {
    const MARK: &[u8] = br#"{"type":"damaged""#;
    /// Characters of the longest such line: a path of the greatest length, escaped, and ids.
    const LINE_MAX: usize = 8192;

    fn take(&mut self, chunk: &[u8]) {
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let room = Self::LINE_MAX.saturating_sub(self.line.len());
            let is_other =
                self.line.len() >= Self::MARK.len() && !self.line.starts_with(Self::MARK);
            if !is_other {
                self.line.extend_from_slice(&part[..part.len().min(room)]);
            }
            if part.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.starts_with(Self::MARK) {
            self.count += 1;
            if self.found.len() < DAMAGED_SHOWN_MAX {
                self.found.push(String::from_utf8_lossy(line.trim_ascii()).into_owned());
            }
        }
    }

    /// Names what is damaged, on standard error.
    fn report(self) -> Result<(), Failure> {
        self.report_to(say)
    }

    fn report_to(self, mut say: impl FnMut(&str)) -> Result<(), Failure> {
        for line in &self.found {
            say(&plain(line));
        }
        match self.count {
            0 => Ok(()),
            count => Err(Failure::failed(format!(
                "{count} versions are damaged and were exported without content; see \
                 docs/guides/damage.md"
            ))),
        }
    }
}

/// Damaged versions that are named one by one.
const DAMAGED_SHOWN_MAX: usize = 1000;

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
    (name, mut look): (&'static str, impl FnMut(&[u8])),
) -> Result<(), Failure> {
    let cannot =
        |error: &std::io::Error| Failure::io(format_args!("cannot write {}", to.display()), error);
    let mut file = tempfile::Builder::new()
        .prefix(".loci-")
        .tempfile_in(&folder)
        .map_err(|error| cannot(&error))?;
    let write = |chunk: &[u8]| {
        look(chunk);
        file.write_all(chunk).map_err(|error| cannot(&error))
    };
    let bytes = copy(body, name, write).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_lines_reach_no_terminal_with_what_controls_it() {
        let mut damaged = DamagedLines::default();
        damaged.take(b"{\"type\":\"version\"}\n{\"type\":\"dam");
        damaged.take("aged\",\"path\":\"/\u{1b}[2J\u{202e}a\"}\n{}\n".as_bytes());
        let mut shown = Vec::new();
        let told = damaged.report_to(|line| shown.push(line.to_owned()));
        assert!(told.unwrap_err().message.contains("1 versions are damaged"));
        let replaced = char::REPLACEMENT_CHARACTER;
        let line = format!("{{\"type\":\"damaged\",\"path\":\"/{replaced}[2J{replaced}a\"}}");
        assert_eq!(shown, [line]);
    }
}
