//! `view`: a file as numbered lines, or a directory two levels deep with sizes.

use super::text::{LINES_MAX, line_count, numbered, window};
use super::{path_of, sealed, whose};
use crate::tool::answer::{Stop, says};
use crate::tool::desk::Desk;
use crate::tool::input::Input;
use crate::tool::path::ToolPath;
use crate::tool::shelf::{SCAN_MAX, Shelf, Tree};
use loci_engine::Purpose;
use loci_model::{Content, Memory, View};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of one directory listing.
const ENTRIES_MAX: usize = 1000;
/// Bytes of one of them, about.
const ENTRY_BYTES: usize = 64;
/// How deep a directory is shown.
const DEPTH_MAX: usize = 2;

/// Shows a file or a directory. A file goes before a directory of the same name, which different
/// writers may have made.
pub(super) async fn view(desk: &Desk<'_>, input: &Input) -> Result<String, Stop> {
    let path = path_of(input, "path")?;
    let range = input.range("view_range")?;
    let place = desk.place(whose(desk, input, &path)?, Purpose::Read).await?;
    let shelf = desk.shelf(&place);
    if let Some(memory) = shelf.newest_of(&path.exact(), View::Full).await? {
        return shown(desk, path, memory, range).await;
    }
    if let Some(listing) = directory(desk, shelf, &path).await? {
        return Ok(listing);
    }
    match shelf.newest_of(&path.plain(), View::Full).await? {
        Some(memory) => shown(desk, path, memory, range).await,
        None => says(format!("The path {path} does not exist. Please provide a valid path.")),
    }
}

async fn shown(
    desk: &Desk<'_>,
    path: ToolPath,
    memory: Memory,
    range: Option<(i64, i64)>,
) -> Result<String, Stop> {
    let bytes = memory.content.as_ref().and_then(Content::text).map_or(0, str::len);
    desk.engine.written(bytes, move || file(&path, &memory, range)).await?
}

fn file(path: &ToolPath, memory: &Memory, range: Option<(i64, i64)>) -> Result<String, Stop> {
    let Some(text) = memory.content.as_ref().and_then(Content::text) else {
        return Ok(sealed(path));
    };
    let lines = line_count(text);
    if lines > LINES_MAX {
        return says(format!("File {path} exceeds maximum line limit of 999,999 lines."));
    }
    let (from, to) = window(range, lines);
    let shown = numbered(text, from, to);
    Ok(format!("Here's the content of {path} with line numbers:\n{shown}"))
}

/// A directory; none where nothing is below a path, which the root alone may be without.
async fn directory(
    desk: &Desk<'_>,
    shelf: Shelf<'_>,
    path: &ToolPath,
) -> Result<Option<String>, Stop> {
    let prefix = path.prefix();
    let mut tree = shelf.below(&prefix, SCAN_MAX).await?;
    // A model has no use for what it cannot read, and is not to know where it is.
    tree.memories.retain(|memory| !memory.is_sealed);
    let is_there = !tree.memories.is_empty() || path.memory().is_none();
    if !is_there {
        return Ok(None);
    }
    let (path, bytes) = (path.clone(), tree.memories.len() * ENTRY_BYTES);
    let write = move || listing(&path, prefix.as_str(), &tree);
    Ok(Some(desk.engine.written(bytes, write).await?))
}

/// A directory with what is in it.
#[derive(Default)]
struct Folder {
    /// Everything below, hidden or not.
    bytes: u64,
    files: BTreeMap<String, u64>,
    folders: BTreeMap<String, Self>,
}

impl Folder {
    fn add(&mut self, segments: &[&str], bytes: u64) {
        self.bytes += bytes;
        match segments {
            [] => {}
            [name] => {
                self.files.insert((*name).to_owned(), bytes);
            }
            [name, rest @ ..] => {
                self.folders.entry((*name).to_owned()).or_default().add(rest, bytes);
            }
        }
    }

    /// Files and directories together, by name, each directory before what is in it.
    fn lines(&self, path: &str, depth: usize, lines: &mut Vec<String>) {
        let files = self.files.iter().map(|(name, bytes)| (name, *bytes, None));
        let folders = self.folders.iter().map(|(name, folder)| (name, folder.bytes, Some(folder)));
        let mut entries: Vec<_> =
            files.chain(folders).filter(|(name, ..)| !is_hidden(name)).collect();
        entries.sort_by_key(|(name, ..)| *name);
        for (name, bytes, folder) in entries {
            let below = format!("{path}/{name}");
            let slash = if folder.is_some() { "/" } else { "" };
            lines.push(format!("{}\t{below}{slash}", size(bytes)));
            if let Some(folder) = folder.filter(|_| depth < DEPTH_MAX) {
                folder.lines(&below, depth + 1, lines);
            }
        }
    }
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

fn listing(path: &ToolPath, prefix: &str, tree: &Tree) -> String {
    let mut root = Folder::default();
    for memory in newest_of_each(&tree.memories) {
        let below = memory.path.as_str().strip_prefix(prefix).unwrap_or_default();
        root.add(&below.split('/').collect::<Vec<_>>(), memory.size_bytes);
    }
    let mut lines = vec![format!("{}\t{path}", size(root.bytes))];
    root.lines(&path.to_string(), 1, &mut lines);
    let mut shown = format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items \
         and node_modules:"
    );
    for line in lines.iter().take(ENTRIES_MAX) {
        shown.push('\n');
        shown.push_str(line);
    }
    if let Some(more) = lines.len().checked_sub(ENTRIES_MAX).filter(|more| *more > 0) {
        write!(shown, "\n[{more} more entries are not shown. View a subdirectory to see them.]")
            .expect("a String takes it");
    }
    if tree.is_cut {
        write!(shown, "\n[Only the first {SCAN_MAX} files were looked at.]")
            .expect("a String takes it");
    }
    shown
}

/// Each path once, as the one who changed it last left it.
fn newest_of_each(memories: &[Memory]) -> Vec<&Memory> {
    let mut newest: Vec<&Memory> = Vec::with_capacity(memories.len());
    for memory in memories {
        match newest.last_mut().filter(|last| last.path == memory.path) {
            Some(last) if (last.updated_at, last.id) < (memory.updated_at, memory.id) => {
                *last = memory;
            }
            Some(_) => {}
            None => newest.push(memory),
        }
    }
    newest
}

/// A size as people read it: whole if exact, else with one decimal.
fn size(bytes: u64) -> String {
    if bytes == 0 {
        return "0B".to_owned();
    }
    let mut unit = 1u64;
    for name in ["B", "K", "M", "G"] {
        if bytes < unit * 1024 || name == "G" {
            return if bytes.is_multiple_of(unit) {
                format!("{}{name}", bytes / unit)
            } else {
                format!("{:.1}{name}", bytes as f64 / unit as f64)
            };
        }
        unit *= 1024;
    }
    unreachable!("the last unit takes everything")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (bytes, expected) in [
            (0, "0B"),
            (1, "1B"),
            (1023, "1023B"),
            (1024, "1K"),
            (1536, "1.5K"),
            (1025, "1.0K"),
            (2048, "2K"),
            (1024 * 1024, "1M"),
            (1024 * 1024 * 5 / 2, "2.5M"),
            (1024 * 1024 * 1024 * 2048, "2048G"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
