//! What a pass did since the state was last saved, line by line, so that a sync that is killed does not
//! take its own work for somebody's change. A text that comes down is noted before it gets its name, and
//! counts if the file looks as noted; one that goes up is noted before it is sent, and counts if the
//! store has it; and again when the store has said so.
//!
//! A line that is missing or cut off costs a `.conflict` that nobody needed, never a text.

use super::folder::{Folder, Stamp};
use super::state::{Base, State};
use loci_model::{Digest, MemoryId, MemoryPath};
use loci_mount::port::Entry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// The name of the file.
const FILE: &str = ".loci-sync.journal";
const BYTES_MAX: usize = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Line {
    went: Went,
    path: String,
    sha256: String,
    /// Not known of one that is to be made.
    id: Option<String>,
    mtime_ns: i64,
    size: u64,
}

/// Which way a text goes, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Went {
    /// To the directory: it is there when the file looks as noted.
    Down,
    /// To the store: it is there when the store has this text.
    Up,
    /// Both have it.
    Done,
}

/// A text on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note<'a> {
    pub(super) went: Went,
    pub(super) path: &'a str,
    pub(super) memory: Option<MemoryId>,
    pub(super) digest: Digest,
    pub(super) stamp: Stamp,
}

/// Notes a text on its way.
pub(super) fn note(folder: &Folder, note: &Note<'_>) -> io::Result<()> {
    let line = Line {
        went: note.went,
        path: note.path.to_owned(),
        sha256: note.digest.to_string(),
        id: note.memory.map(|memory| memory.to_string()),
        mtime_ns: note.stamp.mtime_ns,
        size: note.stamp.size,
    };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    folder.append_own(FILE, &bytes)
}

/// Takes in what an interrupted pass had done, by what the store has now.
pub(super) fn replay(
    folder: &Folder,
    remote: &BTreeMap<String, Entry>,
    state: &mut State,
) -> io::Result<()> {
    let Some(bytes) = folder.read_own(FILE, BYTES_MAX)? else { return Ok(()) };
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { continue };
        let (Ok(path), Ok(digest)) = (MemoryPath::parse(&line.path), line.sha256.parse()) else {
            continue;
        };
        let noted = Stamp { mtime_ns: line.mtime_ns, size: line.size };
        let named = line.id.and_then(|id| id.parse().ok());
        let there = remote.get(&line.path).filter(|entry| entry.digest == digest);
        let memory = match line.went {
            Went::Down if folder.stamp(&path)? == Some(noted) => named,
            Went::Up => there.map(|entry| entry.memory),
            Went::Done => named,
            Went::Down => None,
        };
        if let Some(memory) = memory {
            // That it looks so is enough to know whose text it is, but not that it was not touched.
            state.bases.insert(line.path, Base { memory, digest, stamp: None });
        }
    }
    Ok(())
}

/// Forgets all of it: the state has it.
pub(super) fn clear(folder: &Folder) -> io::Result<()> {
    folder.remove_own(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_as_noted_counts() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        std::fs::write(temporary.path().join("a"), "text").unwrap();
        let path = MemoryPath::parse("/a").unwrap();
        let stamp = folder.stamp(&path).unwrap().unwrap();
        let (memory, digest) = (Some(MemoryId::from_u128(1)), Digest::from_bytes([1; 32]));
        let other = Stamp { size: stamp.size + 1, ..stamp };
        for (went, path, stamp) in [
            (Went::Down, "/a", stamp),
            (Went::Down, "/b", stamp),
            (Went::Done, "/c", stamp),
            (Went::Up, "/d", stamp),
        ] {
            note(&folder, &Note { went, path, memory, digest, stamp }).unwrap();
        }
        let digest_after = Digest::from_bytes([2; 32]);
        let late =
            Note { went: Went::Down, path: "/a", memory, digest: digest_after, stamp: other };
        note(&folder, &late).unwrap();
        folder.append_own(FILE, b"{\"path\": \"/a").unwrap();
        let mut state = State::default();
        replay(&folder, &BTreeMap::new(), &mut state).unwrap();
        assert_eq!(state.bases.keys().collect::<Vec<_>>(), ["/a", "/c"]);
        assert_eq!(state.bases["/a"].digest, digest);
        clear(&folder).unwrap();
        let mut state = State::default();
        replay(&folder, &BTreeMap::new(), &mut state).unwrap();
        assert_eq!(state, State::default());
    }
}
